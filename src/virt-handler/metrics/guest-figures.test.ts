import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBalloonBytes, readDisks, readGuestMemory, readNetworks } from './guest-figures.ts';

const MIB = 2 ** 20;
const UNKNOWN = 2 ** 64; // what QEMU says of a figure that the guest did not tell

function stats(said: Readonly<Record<string, unknown>>, updated: unknown = 1) {
  return { stats: said, 'last-update': updated };
}

test('memory is what the guest told, and nothing before it told anything', () => {
  const said = { 'stat-total-memory': 120 * MIB, 'stat-available-memory': 80 * MIB, 'stat-free-memory': UNKNOWN, 'stat-swap-in': 0 };
  assert.deepEqual(readGuestMemory(stats(said), 128 * MIB), { availableBytes: 120 * MIB, usableBytes: 80 * MIB, swapInBytes: 0 });
  assert.deepEqual(readGuestMemory(stats(said, 0), 128 * MIB), {});
});

test('numbers that cannot be are left out: more memory than the machine has, fractions, texts, objects', () => {
  const said = {
    'stat-total-memory': 129 * MIB,
    'stat-available-memory': -1,
    'stat-free-memory': '7',
    'stat-disk-caches': { toString: 'x' },
    'stat-major-faults': 0.5,
    'stat-minor-faults': 3,
  };
  assert.deepEqual(readGuestMemory(stats(said), 128 * MIB), { minorFaults: 3 });
  for (const nonsense of [undefined, 7, [], { stats: [] }, { stats: {}, 'last-update': 'now' }])
    assert.deepEqual(readGuestMemory(nonsense, 128 * MIB), {});
  assert.equal(readBalloonBytes({ actual: Number.POSITIVE_INFINITY }), undefined);
});

test('disks have the names of the spec, by the place of their device', () => {
  const zeros = {
    readBytes: 0,
    writtenBytes: 0,
    reads: 0,
    writes: 0,
    flushes: 0,
    readNanoseconds: 0,
    writeNanoseconds: 0,
    flushNanoseconds: 0,
  };
  const answer = [
    { qdev: '/machine/peripheral/disk1/disk1.0/legacy[0]', stats: { rd_bytes: 7, wr_operations: 2 } },
    { qdev: '/machine/peripheral/disk0/virtio-backend', stats: { rd_bytes: 512, flush_total_time_ns: 9 } },
    { qdev: '/machine/peripheral/disk0/virtio-backend', stats: { rd_bytes: 1 } },
    { qdev: '/machine/peripheral/disk7', stats: {} },
    { qdev: '/machine/peripheral/cdrom', stats: {} },
    'nothing',
  ];
  assert.deepEqual(readDisks(answer, ['root', 'data']), [
    { disk: 'data', ...zeros, readBytes: 7, writes: 2 },
    { disk: 'root', ...zeros, readBytes: 512, flushNanoseconds: 9 },
  ]);
  assert.deepEqual(readDisks({}, ['root']), []);
});

test('a guest cannot make up networks: only cards that the machine has are counted, each once', () => {
  const nic = (mac: unknown, bytes: number) => ({
    name: 'x',
    'hardware-address': mac,
    statistics: { 'rx-bytes': bytes, 'tx-errs': UNKNOWN },
  });
  const answer = [
    nic('02:00:00:00:00:01', 5),
    nic('02:00:00:00:00:01', 6),
    nic('02:00:00:00:00:99', 7),
    nic({}, 8),
    { 'hardware-address': '' },
  ];
  const [figures, ...others] = readNetworks(answer, new Map([['02:00:00:00:00:01', 'default']]));
  assert.deepEqual(others, []);
  assert.deepEqual([figures?.network, figures?.receivedBytes, figures?.sendErrors], ['default', 5, 0]);
});
