import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { chooseAcceleration, showsKvm } from './accelerator.ts';
import { findQemu } from './find-qemu.ts';
import { qemuVersion } from './qemu-version.ts';

const folder = mkdtempSync(join(tmpdir(), 'accelerator-'));
after(() => rmSync(folder, { recursive: true }));

function host({ kvm, flags }: { kvm: boolean; flags: string }) {
  const paths = { kvmDevice: join(folder, `kvm-${kvm}`), cpuInfo: join(folder, `cpuinfo-${flags}`) };
  if (kvm) writeFileSync(paths.kvmDevice, '');
  writeFileSync(paths.cpuInfo, `processor\t: 0\nmodel name\t: A CPU\nflags\t\t: fpu ${flags} sse2\n`);
  return paths;
}

const CASES = [
  { kvm: true, flags: 'vmx', env: undefined, expected: 'kvm' },
  { kvm: true, flags: 'svm', env: undefined, expected: 'kvm' },
  { kvm: true, flags: 'pae', env: undefined, expected: 'tcg' },
  { kvm: false, flags: 'vmx', env: undefined, expected: 'tcg' },
  { kvm: true, flags: 'vmx', env: 'tcg', expected: 'tcg' },
  { kvm: true, flags: 'pae', env: 'kvm', expected: 'kvm' },
];
for (const { kvm, flags, env, expected } of CASES) {
  test(`acceleration is ${expected} with ${kvm ? 'a' : 'no'} /dev/kvm, CPU flag ${flags}, KUBEVIRT_ACCEL ${env}`, () => {
    assert.equal(chooseAcceleration({ KUBEVIRT_ACCEL: env }, host({ kvm, flags })).accel, expected);
  });
}

test('a node shows KVM when it has the device and the processor for it', () => {
  const seen = [
    { kvm: true, flags: 'svm' },
    { kvm: true, flags: 'pae' },
    { kvm: false, flags: 'vmx' },
  ].map((each) => showsKvm(host(each)));
  assert.deepEqual(seen, [true, false, false]);
});

test('KVM that is asked for and missing is an error, not a slow guest', () => {
  assert.throws(() => chooseAcceleration({ KUBEVIRT_ACCEL: 'kvm' }, host({ kvm: false, flags: 'vmx' })), { code: 'KVM_UNAVAILABLE' });
});

test('an unknown accelerator is an error', () => {
  assert.throws(() => chooseAcceleration({ KUBEVIRT_ACCEL: 'xen' }, host({ kvm: true, flags: 'vmx' })), { code: 'ACCEL_UNKNOWN' });
});

test('QEMU is found on PATH and says its version', () => {
  assert.match(qemuVersion(findQemu()) ?? '', /^\d+\.\d+/);
});

test('a missing QEMU says what to install', () => {
  assert.throws(() => findQemu({ PATH: folder }), { code: 'QEMU_MISSING', fix: 'apt-get install qemu-system-x86' });
});
