import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostCheckStatus } from '../../api/page/host-checks.ts';
import { decideChecks, type Facts } from './decide.ts';

const GiB = 2 ** 30;
const now = Date.parse('2026-01-01T00:00:00Z');
const healthy: Facts = {
  now,
  nodeVersion: 'v24.1.0',
  qemu: { path: '/usr/bin/qemu', version: '7.2.22' },
  acceleration: { accel: 'kvm', why: '/dev/kvm opens' },
  missingNetworkPrograms: [],
  missingContainerPrograms: [],
  cgroups: { version: 2, parents: { cpu: '/c', memory: '/c', pids: '/c' } },
  processLimit: 4096,
  isInNetwork: true,
  isOnHostNetwork: false,
  isCutOff: false,
  userNamespaces: { text: 'not needed: we are root' },
  whyNoGuestUsers: undefined,
  whyNotIsolated: undefined,
  virtiofsd: '/usr/lib/qemu/virtiofsd',
  isImageStoreApart: false,
  homeFolder: '/data',
  homeFreeBytes: 50 * GiB,
  cacheFolder: '/cache',
  cacheFreeBytes: 50 * GiB,
  availableMemoryBytes: 8 * GiB,
  memoryBytes: 16 * GiB,
  port: { number: 6443, isFree: true },
  homePermissions: { isOurs: true, isWritableByOthers: false },
  demoImage: 'localhost/guests/tiny:latest',
  cluster: { state: 'running', text: 'process 1' },
  api: { text: 'answers' },
  certificateEndsAt: now + 300 * 24 * 3600_000,
  unknownGuests: [],
  guestsElsewhere: [],
};

test('on a healthy machine everything is ok', () => {
  assert.deepEqual([...new Set(decideChecks(healthy).map(({ status }) => status))], ['ok']);
});

test('what containers are not held to is said, with the reason', () => {
  const said = (cgroups: Facts['cgroups']) => decideChecks({ ...healthy, cgroups }).find(({ name }) => name === 'container limits')?.text;
  assert.match(said({ why: 'no cgroups are mounted' }) ?? '', /4096 processes.*not limited: no cgroups are mounted/);
  assert.equal(said(healthy.cgroups), '4096 processes for a container, and its cpu and memory by cgroups of version 2');
  assert.match(said({ version: 1, parents: { memory: '/m', pids: '/p' } }) ?? '', /its memory by cgroups of version 1; cpu not limited/);
});

const CASES: [what: string, facts: Partial<Facts>, name: string, status: HostCheckStatus, text: RegExp, fix: RegExp][] = [
  ['an old Node', { nodeVersion: 'v20.1.0' }, 'node', 'failed', /older than 24/, /bootstrap/],
  ['no QEMU', { qemu: { missing: 'it is not on PATH', fix: 'apt-get install qemu' } }, 'qemu', 'failed', /not on PATH/, /apt-get/],
  ['an old QEMU', { qemu: { path: '/q', version: '5.2.0' } }, 'qemu', 'warning', /5\.2\.0 is older/, /newer/],
  ['no virtualization', { acceleration: { accel: 'tcg', why: 'no vmx' } }, 'acceleration', 'warning', /emulated.*no vmx/, /firmware/],
  ['no right to KVM', { acceleration: { accel: 'tcg', why: 'EACCES' } }, 'acceleration', 'warning', /emulated/, /group kvm/],
  ['KVM that was forced', { acceleration: { missing: 'cannot', fix: 'unset' } }, 'acceleration', 'failed', /cannot/, /unset/],
  ['a machine in no network', { isInNetwork: false }, 'network', 'warning', /guests have no way out until it is/, /ip route/],
  ['a cluster whose pasta has ended', { isCutOff: true }, 'network', 'failed', /no way out/, /kill .guests run on.*virtctl up/],
  ['a cluster on the network of the host', { isOnHostNetwork: true }, 'network', 'warning', /no way out/, /without --host-network/],
  ['no crun', { missingContainerPrograms: ['crun'] }, 'containers', 'warning', /crun not installed/, /apt-get install crun/],
  ['no pasta', { missingNetworkPrograms: ['pasta'] }, 'network', 'warning', /pasta not installed/, /passt/],
  ['no user namespaces', { userNamespaces: { missing: 'denied', fix: 'sysctl' } }, 'namespaces', 'warning', /denied/, /sysctl/],
  [
    'an ordinary user without subordinate ids',
    { whyNoGuestUsers: { why: 'newuidmap is not installed', fix: 'apt-get install uidmap' } },
    'guest users',
    'warning',
    /all guests run as you.*newuidmap/,
    /uidmap/,
  ],
  ['no namespaces for guests', { whyNotIsolated: 'denied' }, 'guest namespaces', 'warning', /files and processes.*denied/, /namespaces/],
  ['no virtiofsd', { virtiofsd: undefined }, 'shared folders', 'warning', /--mount does not work/, /apt-get install virtiofsd/],
  ['images on another disk', { isImageStoreApart: true }, 'data folder', 'failed', /different file systems/, /VIRT_HOME/],
  [
    'a foreign data folder',
    { homePermissions: { isOurs: false, isWritableByOthers: false } },
    'data folder',
    'failed',
    /somebody/,
    /chown/,
  ],
  ['an open data folder', { homePermissions: { isOurs: true, isWritableByOthers: true } }, 'data folder', 'failed', /others/, /chmod go-w/],
  ['a small disk', { homeFreeBytes: GiB }, 'data disk', 'warning', /1\.0 GiB free/, /VIRT_HOME/],
  ['a full disk', { cacheFreeBytes: 2 ** 20 }, 'cache disk', 'failed', /1 MiB free/, /KUBEVIRT_CACHE/],
  ['little memory', { availableMemoryBytes: 2 ** 29 }, 'memory', 'warning', /512 MiB of 16 GiB/, /less memory/],
  ['no memory', { availableMemoryBytes: 2 ** 20 }, 'memory', 'failed', /1 MiB/, /less memory/],
  ['a cluster that was started again', { restarts: 'twice' }, 'cluster', 'warning', /process 1; twice/, /embedded\.log/],
  [
    'a damaged store',
    { store: { records: 3, revision: 9, problems: ['record 2 (x) does not match its checksum', 'all is well up to revision 1'] } },
    'store',
    'failed',
    /record 2 .*up to revision 1/,
    /restore --salvage/,
  ],
  [
    'guests out of reach',
    { guestsElsewhere: ['VirtualMachineInstance a in b'] },
    'guests',
    'failed',
    /another network.*Instance a/,
    /virtctl up/,
  ],
  ['guests of another store', { unknownGuests: ['VirtualMachineInstance a in b'] }, 'guests', 'warning', /Instance a in b/, /virtctl down/],
  ['a stopped cluster', { cluster: { state: 'stopped', text: 'none' } }, 'cluster', 'warning', /none/, /virtctl up/],
  [
    'a busy port',
    { cluster: { state: 'stopped', text: '' }, port: { number: 6443, isFree: false } },
    'port',
    'warning',
    /6443 is taken/,
    /--port/,
  ],
  ['no demo image', { demoImage: undefined }, 'demo image', 'warning', /not built/, /bootstrap/],
  ['an API that does not answer', { api: { missing: 'refused', fix: 'virtctl logs --system' } }, 'api', 'failed', /refused/, /logs/],
  ['no API', { api: undefined }, 'api', 'warning', /not asked/, /virtctl up/],
  ['an old certificate', { certificateEndsAt: now + 3600_000 }, 'certificate', 'warning', /expires in 60m/, /renews/],
  ['an expired certificate', { certificateEndsAt: now - 3600_000 }, 'certificate', 'failed', /expired 60m ago/, /renews/],
];

for (const [what, facts, name, status, text, fix] of CASES) {
  test(`${what}: ${name} is ${status}`, () => {
    const check = decideChecks({ ...healthy, ...facts }).find((each) => each.name === name);
    assert.equal(check?.status, status);
    assert.match(check.text, text);
    assert.match(check.fix ?? '', fix);
  });
}

test('a machine that never saw us has nothing to fix about folders and certificates', () => {
  const checks = decideChecks({ ...healthy, homePermissions: undefined, certificateEndsAt: undefined });
  assert.deepEqual(
    checks.filter(({ status }) => status !== 'ok'),
    [],
  );
});
