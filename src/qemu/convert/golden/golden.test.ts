/**
 * What a release gave to guests stays: the id, the driver and the place of every device. Guests name disks and cards after their places, and
 * a machine can only migrate to one that has the same. A file for each release; a later release may add devices, and move none.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { argumentsFor } from '../arguments.ts';
import { valuesOf } from '../vmi.testing.ts';
import { GOLDEN_MACHINES } from './machines.testing.ts';
import { realPlaces } from './real-places.testing.ts';

type Golden = Readonly<Record<string, Readonly<Record<string, string>>>>;
type Device = Readonly<Record<string, unknown>> & { readonly id: string };

const RELEASES = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'));

for (const file of RELEASES) {
  const golden = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Golden; // we wrote it
  for (const [name, devices] of Object.entries(golden)) {
    test(`${name}: the devices are where ${file.replace('.json', '')} had them`, async (t) => {
      const input = GOLDEN_MACHINES[name];
      assert.ok(input, 'a machine of a release is kept');
      const args = argumentsFor(input);
      const real = await realPlaces(t, { input, args });
      const found = (valuesOf(args, '-device') as Device[]).map((device) => [device.id, placeOf(device, real)]);
      assert.deepEqual({ ...Object.fromEntries(found) }, devices);
    });
  }
}

function placeOf(device: Device, real: ReadonlyMap<string, string>): string {
  const { id, driver, bus = 'isa' } = device;
  const place = real.get(id);
  if (place !== undefined) return `${driver} at ${place.replace('usb', String(bus))}`;
  const within =
    'scsi-id' in device ? ` ${device['channel']}:${device['scsi-id']}:${device['lun']}` : 'nr' in device ? ` ${device['nr']}` : '';
  return `${driver} at ${bus}${within}`;
}
