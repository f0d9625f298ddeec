/**
 * What a release gave to guests stays: the id, the driver and the place of every device. Guests name disks and cards after their places, and
 * a machine can only migrate to one that has the same. A file for each release; a later release may add devices, and move none.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { machineFor } from '../machine-for.ts';
import type { Device, Place } from '../machine-model.ts';
import { renderArguments } from '../render-arguments.ts';
import { GOLDEN_MACHINES } from './machines.testing.ts';
import { realPlaces } from './real-places.testing.ts';

type Golden = Readonly<Record<string, Readonly<Record<string, string>>>>;

const RELEASES = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.json'))
  .map((file) => ({ release: file.replace('.json', ''), golden: readGolden(file) }));
const NEWEST = RELEASES.toSorted((a, b) => a.release.localeCompare(b.release, 'en', { numeric: true })).at(-1);

for (const { release, golden } of RELEASES) {
  for (const [name, devices] of Object.entries(golden)) {
    test(`${name}: every device is where ${release} had it`, () => {
      const found = devicesOf(name).map(({ id, driver, place }): [string, string] => [id, `${driver} at ${placeText(place)}`]);
      const kept = found.filter(([id]) => id in devices || release === NEWEST?.release);
      assert.deepEqual(Object.fromEntries(kept), devices);
    });
  }
}

test('there is a file for this version: begin it as a copy of the one before', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }; // npm sees to it
  assert.equal(NEWEST?.release, version);
});

test('every golden machine is written down for the newest release', () => {
  assert.deepEqual(Object.keys(NEWEST?.golden ?? {}), Object.keys(GOLDEN_MACHINES));
});

for (const [name, input] of Object.entries(GOLDEN_MACHINES)) {
  test(`${name}: a real QEMU has the devices where the model says`, async (t) => {
    const real = await realPlaces(t, { input, args: renderArguments(machineFor(input)) });
    const said = devicesOf(name).filter(({ place }) => place.kind === 'pci' || place.kind === 'usb');
    assert.deepEqual(
      [...real].toSorted(),
      said.map(({ id, place }) => [id, place.kind === 'usb' ? `usb ${place.port}` : placeText(place)]).toSorted(),
    );
  });
}

function devicesOf(name: string): Device[] {
  const input = GOLDEN_MACHINES[name];
  assert.ok(input, 'a machine of a release is kept');
  return machineFor(input).parts.filter((part) => part.part === 'device');
}

function placeText(place: Place): string {
  switch (place.kind) {
    case 'pci':
      return `${place.bus === 'pcie.0' ? '00' : place.bus}:${place.slot.toString(16).padStart(2, '0')}.${place.function}`;
    case 'scsi':
      return `${place.bus} ${place.channel}:${place.target}:${place.lun}`;
    case 'usb':
      return `${place.bus} ${place.port}`;
    case 'channel':
      return `${place.bus} ${place.number}`;
    case 'bus':
      return place.bus;
  }
}

function readGolden(file: string): Golden {
  return JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Golden; // we wrote it
}
