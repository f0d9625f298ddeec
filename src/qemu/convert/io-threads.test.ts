import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk, Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import { ioThreadParts, ioThreadsOf } from './io-threads.ts';

const virtio = (patch: Partial<Disk> = {}): Disk => ({ name: 'x', disk: { bus: 'virtio' }, ...patch });
const domain = (disks: Disk[], patch: Partial<Domain> = {}): Domain => ({ ...patch, devices: { disks } });

const CASES: [name: string, domain: Domain, expected: (string | undefined)[]][] = [
  ['without a word disks have the main thread', domain([virtio(), virtio()]), [undefined, undefined]],
  ['shared is one thread for all', domain([virtio(), virtio()], { ioThreadsPolicy: 'shared' }), ['iothread0', 'iothread0']],
  [
    'auto takes turns, two for each processor',
    domain([virtio(), virtio(), virtio()], { ioThreadsPolicy: 'auto', cpu: { cores: 1 } }),
    ['iothread0', 'iothread1', 'iothread0'],
  ],
  ['a dedicated disk has its own', domain([virtio(), virtio({ dedicatedIOThread: true })]), ['iothread0', 'iothread-disk1']],
  ['only virtio has threads', domain([{ name: 'x', disk: { bus: 'scsi' } }], { ioThreadsPolicy: 'shared' }), [undefined]],
];
for (const [name, given, expected] of CASES) test(name, () => assert.deepEqual(ioThreadsOf(given), expected));

test('each thread is made once', () => {
  const parts = ioThreadParts(domain([virtio(), virtio()], { ioThreadsPolicy: 'shared' }));
  assert.deepEqual(parts, [{ part: 'object', id: 'iothread0', type: 'iothread', properties: {} }]);
});
