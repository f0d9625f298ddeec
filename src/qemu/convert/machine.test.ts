import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { boardOf } from './machine.ts';
import { renderBoard } from './render-arguments.ts';
import { input, valuesOf } from './vmi.testing.ts';

type Domain = Partial<VmiSpec['domain']>;

function argumentOf(option: string, domain: Domain, accel: 'kvm' | 'tcg' = 'tcg'): unknown {
  return valuesOf(renderBoard(boardOf({ ...input({}, {}, domain), host: { accel } })), option)[0];
}

const MEMORY: [name: string, domain: Domain, expected: string][] = [
  ['the guest memory', { memory: { guest: '1Gi' }, resources: { requests: { memory: '64M' } } }, 'size=1048576k'],
  ['the request', { resources: { requests: { memory: '64M' }, limits: { memory: '128Mi' } } }, 'size=62500k'],
  ['the limit', { resources: { limits: { memory: '128Mi' } } }, 'size=131072k'],
  ['a bare number of bytes', { memory: { guest: 134217728 } }, 'size=131072k'],
];
for (const [name, domain, expected] of MEMORY) test(`memory is ${name}`, () => assert.equal(argumentOf('-m', domain), expected));

const CPUS: [name: string, domain: Domain, expected: string][] = [
  ['one when nothing is said', {}, 'cpus=1,sockets=1,cores=1,threads=1'],
  ['cores x sockets x threads', { cpu: { cores: 2, sockets: 3, threads: 2 } }, 'cpus=12,sockets=3,cores=2,threads=2'],
  ['as many sockets as the limit says', { resources: { requests: { memory: '64M' }, limits: { cpu: '2500m' } } }, 'cpus=3,sockets=3,cores=1,threads=1'], // biome-ignore format: one case, one line
  ['not counted from requests when cores are given', { cpu: { cores: 2 }, resources: { requests: { memory: '64M', cpu: 4 } } }, 'cpus=2,sockets=1,cores=2,threads=1'], // biome-ignore format: one case, one line
];
for (const [name, domain, expected] of CPUS) test(`processors are ${name}`, () => assert.equal(argumentOf('-smp', domain), expected));

test('firmware that uses the serial port has no screen of its own', () => {
  assert.equal(argumentOf('-machine', { firmware: { bootloader: { bios: { useSerial: true } } } }), 'q35,graphics=off');
});

const REFUSED: [domain: Domain, code: string][] = [
  [{ resources: {} }, 'MEMORY_MISSING'],
  [{ memory: { guest: '-1Gi' } }, 'MEMORY_INVALID'],
  [{ memory: { guest: 'much' } }, 'MEMORY_INVALID'],
  [{ memory: { guest: '8Ei' } }, 'MEMORY_INVALID'],
  [{ cpu: { cores: 300 } }, 'TOO_MANY_CPUS'],
  [{ machine: { type: 'isapc' } }, 'MACHINE_UNSUPPORTED'],
  [{ machine: { type: 'q35,accel=kvm' } }, 'MACHINE_UNSUPPORTED'],
  [{ cpu: { model: 'max,+vmx' } }, 'TEXT_INVALID'],
  [{ firmware: { uuid: 'none' } }, 'TEXT_INVALID'],
  [{ firmware: { serial: 'a\nb' } }, 'TEXT_INVALID'],
];
for (const [domain, code] of REFUSED) {
  test(`${JSON.stringify(domain)} is refused as ${code}`, () => assert.throws(() => boardOf(input({}, {}, domain)), { code }));
}

test('the host decides what the most capable processor is', () => {
  assert.deepEqual([argumentOf('-cpu', {}, 'tcg'), argumentOf('-cpu', { cpu: { model: 'host-passthrough' } }, 'kvm')], ['max', 'host']);
});

test('a comma in a serial number stays part of it', () => {
  const smbios = argumentOf('-smbios', { firmware: { serial: 'a,uuid=b' } });
  assert.equal(smbios, 'type=1,manufacturer=KubeVirt,product=None,family=KubeVirt,serial=a,,uuid=b');
});

test('code that TCG translated takes little room for a small guest, more for a large one, none with KVM', () => {
  const accel = (guest: string, kind: 'kvm' | 'tcg') => argumentOf('-accel', { memory: { guest } }, kind);
  assert.deepEqual([accel('128Mi', 'tcg'), accel('2Gi', 'tcg'), accel('2Gi', 'kvm')], ['tcg,tb-size=32', 'tcg,tb-size=128', 'kvm']);
});

test('what the installation says of the maker is what the guest reads; the rest stays', () => {
  const settings = { smbios: { product: 'Cloud, large', version: '2' } };
  const [system] = valuesOf(renderBoard(boardOf({ ...input({}, {}, { firmware: { serial: 'x' } }), settings })), '-smbios');
  assert.equal(system, 'type=1,manufacturer=KubeVirt,product=Cloud,, large,family=KubeVirt,version=2,serial=x');
  assert.throws(() => boardOf({ ...input(), settings: { smbios: { family: 'a\nb' } } }), { code: 'TEXT_INVALID' });
});
