import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { UserError } from '../../base/errors.ts';
import { argumentsFor } from './arguments.ts';
import { anySpec, hostileText, imagesFor, input, valuesOf } from './vmi.testing.ts';

/** Every option we ever give, and whether a value follows. */
const OPTIONS: Readonly<Record<string, boolean>> = {
  '-nodefaults': false,
  '-no-user-config': false,
  '-no-shutdown': false,
  '-S': false,
  ...Object.fromEntries(
    '-sandbox -machine -accel -cpu -smp -m -name -uuid -smbios -boot -chardev -mon -serial -display -vnc -device -object -action -blockdev -netdev -audiodev -rtc -global'
      .split(' ')
      .map((option) => [option, true]),
  ),
};
const JSON_OPTIONS = ['-device', '-object', '-blockdev', '-netdev', '-audiodev'];
const KEYS: Readonly<Record<string, readonly string[]>> = {
  '-name': ['guest'],
  '-smbios': ['type', 'manufacturer', 'product', 'family', 'serial', 'version', 'asset', 'sku'],
  '-smp': ['cpus', 'sockets', 'cores', 'threads'],
  '-m': ['size'],
  '-machine': ['', 'acpi', 'smm', 'hpet', 'pit', 'graphics', 'memory-backend'],
  '-rtc': ['base', 'clock', 'driftfix'],
  '-action': ['panic', 'watchdog', 'reboot'],
};
const HOST_FILES = /^(\.\.\/private\/(o\.qcow2|b))$/;

test('a plain instance is the machine that KubeVirt would give', () => {
  const args = argumentsFor(input());
  assert.deepEqual(args.slice(0, 23), [
    ...['-nodefaults', '-no-user-config', '-no-shutdown'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ...['-machine', 'q35', '-accel', 'tcg,tb-size=32', '-cpu', 'max', '-smp', 'cpus=1,sockets=1,cores=1,threads=1', '-m', 'size=62500k'],
    ...['-name', 'guest=default_testvm', '-uuid', '7b6a9d3e-5c8f-4a3b-9d53-0d6a4ee4a001'],
    ...['-smbios', 'type=1,manufacturer=KubeVirt,product=None,family=KubeVirt', '-boot', 'strict=on'],
  ]);
});

test('a paused start keeps the processors stopped', () => {
  assert.ok(argumentsFor(input({}, { startStrategy: 'Paused' })).includes('-S'));
});

test('a kernel of its own is loaded with what it is told, as one word', () => {
  const firmware = { kernelBoot: { kernelArgs: 'console=ttyS0, -S', container: { image: 'x', kernelPath: '/k' } } };
  const given = input({}, {}, { firmware });
  const args = argumentsFor({ ...given, files: { ...given.files, boot: { kernel: 'disks/kernel', initrd: 'disks/initrd' } } });
  assert.deepEqual(
    ['-kernel', '-initrd', '-append'].map((option) => valuesOf(args, option)),
    [['disks/kernel'], ['disks/initrd'], ['console=ttyS0, -S']],
  );
});

test('a watchdog resets by default; one that is to power off pauses, so that somebody can still ask why', () => {
  const actionOf = (action?: 'poweroff' | 'reset' | 'shutdown') =>
    valuesOf(argumentsFor(input({ watchdog: { name: 'w', i6300esb: action ? { action } : {} } })), '-action');
  assert.deepEqual(
    [actionOf(), actionOf('poweroff'), actionOf('shutdown'), valuesOf(argumentsFor(input()), '-action')],
    [['panic=pause', 'watchdog=reset'], ['panic=pause', 'watchdog=pause'], ['panic=pause', 'watchdog=shutdown'], ['panic=pause']],
  );
  const args = argumentsFor(input({ watchdog: { name: 'w', i6300esb: {} } }));
  assert.ok(args.includes('{"driver":"i6300esb","id":"watchdog0","bus":"pcie.0","addr":"0x7.0"}'));
});

test('old spellings give the same machine as new ones', () => {
  const source = { image: 'x' };
  const old = input(
    { disks: [{ name: 'mydisk', volumeName: 'root', disk: { bus: 'virtio' } }] },
    { volumes: [{ name: 'root', registryDisk: source }] },
  );
  const today = input({ disks: [{ name: 'root', disk: { bus: 'virtio' } }] }, { volumes: [{ name: 'root', containerDisk: source }] });
  assert.deepEqual(argumentsFor(old), argumentsFor(today));
});

test('more devices than the board has slots are refused with a way out', () => {
  const disks = Array.from({ length: 40 }, (_, i) => ({ name: `d${i}`, disk: { bus: 'virtio' as const } }));
  assert.throws(() => argumentsFor(input({ disks })), { code: 'TOO_MANY_DEVICES' });
  const scsi = disks.map((disk) => ({ ...disk, disk: { bus: 'scsi' as const } }));
  assert.equal(valuesOf(argumentsFor(input({ disks: scsi })), '-blockdev').length, 40);
});

test('any spec of the schema converts, or is refused by name, and never becomes another option', () => {
  let converted = 0;
  fc.assert(
    fc.property(anySpec, hostileText, (generated, name) => {
      for (const spec of partsOf(generated)) {
        const vmi = { metadata: { name, namespace: 'default' }, spec };
        const args = outcome(() =>
          argumentsFor({ vmi, host: { accel: 'tcg' }, files: { images: imagesFor(spec.domain.devices, spec.volumes) } }),
        );
        if (args) checkOptions(args);
        converted += args ? 1 : 0;
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(converted > 400, `only ${converted} specs converted: the property says too little`);
});

for (const field of ['serial', 'mac', 'firmware', 'cpu', 'machine', 'hostname'] as const) {
  test(`a hostile ${field} never becomes another option`, () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const args = outcome(() => argumentsFor(withHostile(field, text)));
        if (args) checkOptions(args);
      }),
    );
  });
}

/** The whole spec, and its parts with a sound rest: one fault in a random spec would hide all behind it. */
function partsOf(spec: VmiSpec): VmiSpec[] {
  const { disks = [], ...others } = spec.domain.devices;
  const sound = { resources: { requests: { memory: '64M' } } };
  return [
    spec,
    { domain: { ...spec.domain, ...sound, memory: {}, devices: {} } },
    { ...spec, networks: [], domain: { ...sound, devices: { ...others, interfaces: [] } } },
    { ...spec, domain: { ...sound, devices: others } },
    ...disks.map((disk) => ({ domain: { ...sound, devices: { disks: [disk] } } })),
  ];
}

function withHostile(field: 'serial' | 'mac' | 'firmware' | 'cpu' | 'machine' | 'hostname', text: string) {
  switch (field) {
    case 'serial':
      return input({ disks: [{ name: 'root', serial: text }] });
    case 'mac':
      return input({ interfaces: [{ name: 'default', macAddress: text }] });
    case 'firmware':
      return input({}, {}, { firmware: { serial: text } });
    case 'cpu':
      return input({}, {}, { cpu: { model: text } });
    case 'machine':
      return input({}, {}, { machine: { type: text } });
    case 'hostname':
      return input({}, { hostname: text });
  }
}

function outcome<T>(convert: () => T): T | undefined {
  try {
    return convert();
  } catch (error) {
    assert.ok(error instanceof UserError, `not a named error: ${error}`);
    return undefined;
  }
}

/** Reads the arguments as QEMU does and compares with what we may say. */
function checkOptions(args: readonly string[]): void {
  for (let i = 0; i < args.length; i++) {
    const option = args[i] ?? '';
    assert.ok(Object.hasOwn(OPTIONS, option), `unknown option ${option}`);
    if (!OPTIONS[option]) continue;
    const value = args[++i] ?? '';
    assert.ok(!value.includes('\0'), 'a NUL ends an argument early');
    if (JSON_OPTIONS.includes(option)) checkJson(JSON.parse(value));
    else if (option === '-cpu') assert.match(value, /^[\w.-]+(,[\w.-]+=(on|off|\d+))*$/);
    else for (const key of keysOf(value)) assert.ok(!KEYS[option] || KEYS[option].includes(key), `${option} ${value} sets ${key}`);
  }
}

function checkJson(value: { [key: string]: unknown }): void {
  for (const [key, item] of Object.entries(value)) {
    if (key === 'filename') assert.match(String(item), HOST_FILES);
    if (typeof item === 'object' && item !== null) checkJson(item as { [key: string]: unknown });
  }
}

/** The keys of QEMU's key=value syntax; a doubled comma is part of a value, a word without = is ''. */
function keysOf(value: string): string[] {
  return value
    .replaceAll(',,', '')
    .split(',')
    .map((part) => (part.includes('=') ? part.slice(0, part.indexOf('=')) : ''));
}
