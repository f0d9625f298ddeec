import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { argumentsFor } from '../../qemu/convert/arguments.ts';
import { anySpec, imagesFor } from '../../qemu/convert/vmi.testing.ts';
import { defaultVmi, defaultVmiSpec } from './default-vmi.ts';
import { validateVmiSpec } from './validate-vmi-spec/validate-vmi-spec.ts';

const newUuid = '7b6a9d3e-5c8f-4a3b-9d53-0d6a4ee4a001';
const NAMES = ['a', 'b', 'c', 'd'];

/** Specs that keep the rules: every choice a careful author has. */
const goodSpec: fc.Arbitrary<JsonObject> = fc
  .record({
    count: fc.integer({ min: 0, max: 4 }),
    isOld: fc.boolean(),
    bus: fc.constantFrom('virtio', 'sata', 'scsi', 'usb'),
    isCdrom: fc.boolean(),
    memory: fc.constantFrom('64M', '128Mi', '1Gi', 134217728),
    where: fc.constantFrom('guest', 'requests', 'limits'),
    cpu: fc.option(fc.record({ cores: fc.integer({ min: 1, max: 4 }), sockets: fc.integer({ min: 1, max: 4 }) }), { nil: undefined }),
    cpuRequest: fc.option(fc.constantFrom('100m', '2', 3), { nil: undefined }),
    machine: fc.constantFrom(undefined, '', 'q35', 'pc-q35-7.2'),
    network: fc.constantFrom('none', 'default', 'bridge', 'masquerade'),
    mac: fc.constantFrom(undefined, '02:11:22:33:44:55', '02-11-22-33-44-55'),
    hostname: fc.constantFrom(undefined, 'db', 'a-b'),
    serial: fc.constantFrom(undefined, 'S-1.2+3'),
    startStrategy: fc.constantFrom(undefined, 'Paused'),
  })
  .map((choice) => {
    const names = NAMES.slice(0, choice.count);
    const target = choice.isCdrom && choice.bus !== 'virtio' ? { cdrom: { bus: choice.bus } } : { disk: { bus: choice.bus } };
    const source = (index: number) =>
      [
        { containerDisk: { image: 'x' } },
        { registryDisk: { image: 'x:1' } },
        { emptyDisk: { capacity: '1Gi' } },
        { cloudInitNoCloud: { userData: '#!' } },
      ][index];
    const { where, memory } = choice;
    const isPlugged = choice.network === 'bridge' || choice.network === 'masquerade';
    return {
      ...(choice.hostname && { hostname: choice.hostname }),
      ...(choice.startStrategy && { startStrategy: choice.startStrategy }),
      volumes: names.map((name, index) => ({ name, ...source(index) })),
      ...(isPlugged && { networks: [{ name: 'net', pod: {} }] }),
      domain: {
        ...(choice.cpu && { cpu: choice.cpu }),
        ...(choice.machine !== undefined && { machine: { type: choice.machine } }),
        ...(where === 'guest' && { memory: { guest: memory } }),
        resources: {
          requests: { ...(where === 'requests' && { memory }), ...(choice.cpuRequest !== undefined && { cpu: choice.cpuRequest }) },
          limits: where === 'limits' ? { memory } : {},
        },
        devices: {
          disks: names.map((name) =>
            choice.isOld ? { name: `disk-${name}`, volumeName: name, ...target } : { name, serial: choice.serial, ...target },
          ),
          ...(choice.network === 'none' && { autoattachPodInterface: false }),
          ...(isPlugged && { interfaces: [{ name: 'net', [choice.network]: {}, ...(choice.mac && { macAddress: choice.mac }) }] }),
        },
      },
    };
  });

function convert(spec: JsonObject): string[] {
  const vmi = { metadata: { name: 'x', namespace: 'default', uid: newUuid }, spec: spec as unknown as VmiSpec }; // admission let it pass
  return argumentsFor({ vmi, host: { accel: 'tcg' }, files: { images: imagesFor(vmi.spec.domain.devices, vmi.spec.volumes) } });
}

test('completing an instance twice is completing it once', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        goodSpec,
        anySpec as unknown as fc.Arbitrary<JsonObject>,
        fc.dictionary(fc.constantFrom('domain', 'volumes'), fc.jsonValue()),
      ),
      (spec) => {
        const once = defaultVmi({ metadata: { name: 'x' }, spec }, { newUuid });
        assert.deepEqual(defaultVmi(once, { newUuid: 'another' }), once);
      },
    ),
    { numRuns: 500 },
  );
});

test('what keeps the rules is admitted and runs', () => {
  fc.assert(
    fc.property(goodSpec, (spec) => {
      const completed = defaultVmiSpec(spec, { newUuid });
      assert.deepEqual([...validateVmiSpec(spec, 'spec'), ...validateVmiSpec(completed, 'spec')], []);
      assert.deepEqual(convert(completed).slice(0, 2), ['-nodefaults', '-no-user-config']);
    }),
    { numRuns: 300 },
  );
});

test('whatever is admitted becomes QEMU arguments', () => {
  let admitted = 0;
  fc.assert(
    fc.property(anySpec as unknown as fc.Arbitrary<JsonObject>, goodSpec, fc.nat(), (any, good, which) => {
      // One hostile part in a sound spec: the whole of a random spec is never admitted.
      const mixed = defaultVmiSpec(withPartOf(good, any, which), { newUuid });
      if (validateVmiSpec(mixed, 'spec').length > 0) return;
      admitted += 1;
      convert(mixed);
    }),
    { numRuns: 1500 },
  );
  assert.ok(admitted > 20, `only ${admitted} specs were admitted: the property says nothing`);
});

/** The first spec with one field of the second in it: of the spec, its domain or its devices. */
function withPartOf(spec: JsonObject, other: JsonObject, which: number): JsonObject {
  const keys = Object.keys(other);
  const key = keys[which % keys.length] ?? 'domain';
  const [mine, theirs] = [spec[key], other[key]];
  const goesDeeper = key === 'domain' || key === 'devices';
  if (!goesDeeper || !isObject(mine) || !isObject(theirs)) return { ...spec, [key]: theirs };
  return { ...spec, [key]: withPartOf(mine, theirs, Math.floor(which / 7)) };
}
