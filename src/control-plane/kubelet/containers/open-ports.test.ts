import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portsIn } from './open-ports.ts';

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
