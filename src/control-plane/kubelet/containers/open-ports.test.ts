import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsIn, isWorthReading, portsIn } from './open-ports.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

test('listening sockets of all addresses are open ports, those of the loopback and connections are not', () => {
  const tcp = `${HEAD}   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1
   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2
   2: 6402000A:9C40 0302000A:0050 01 00000000:00000000 00:00000000 00000000     0        0 3
${HEAD}   0: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4
   1: 00000000000000000000000001000000:0051 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 5
   2: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 6
`;
  assert.deepEqual(portsIn(tcp, 'tcp'), [
    { protocol: 'tcp', port: 80 },
    { protocol: 'tcp', port: 443 },
  ]);
});

test('a UDP socket that is connected to nobody is an open port', () => {
  const udp = `${HEAD}   10: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0
   11: 6402000A:D431 0302000A:0035 01 00000000:00000000 00:00000000 00000000     0        0 1 2 0 0
`;
  assert.deepEqual(portsIn(udp, 'udp'), [{ protocol: 'udp', port: 53 }]);
});

const NONE = 'TCP 0 UDP 0 TCP6 0 UDP6 0';
const SERVER = 'TCP 1 UDP 0 TCP6 0 UDP6 0';
const BUSY = 'TCP 7 UDP 0 TCP6 0 UDP6 0';

test("sockets are counted by kind, without those that are nobody's port", () => {
  const table = `sockets: used 9
TCP: inuse 1 orphan 2 tw 3 alloc 1278 mem 11
UDP: inuse 0 mem 0
UDPLITE: inuse 4
RAW: inuse 5
TCP6: inuse 0
UDP6: inuse 0
UDPLITE6: inuse 6
`;
  assert.equal(countsIn(table), SERVER);
});

for (const [fact, last, counts, afterMs, isRead] of [
  ['the tables are read once for every Pod', undefined, NONE, 0, true],
  ['not again while it has no socket', NONE, NONE, 3_600_000, false],
  ['at once when it has its first', NONE, SERVER, 500, true],
  ['at once when the last has gone', SERVER, NONE, 500, true],
  ['not for a connection that has just come', SERVER, BUSY, 500, false],
  ['soon after it: it could be a second server', SERVER, BUSY, 2_000, true],
  ['not while nothing changes', SERVER, SERVER, 9_500, false],
  ['but now and then: one server may have taken the place of another', SERVER, SERVER, 10_000, true],
] as const)
  test(`ports of a Pod: ${fact}`, () =>
    assert.equal(isWorthReading(last === undefined ? undefined : { counts: last, atMs: 0 }, { counts, atMs: afterMs }), isRead));
