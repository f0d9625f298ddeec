import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import { checkGuestPort, connectionsAt } from './connect-guest-port.ts';

/** As QEMU 7.2 prints it. */
const line = (state: string, number: number, port: number) =>
  `  TCP[${state}]      ${number}       127.0.0.1 ${port}        10.0.2.2    80     0     0\n`;
const HEAD = 'Hub -1 (net0):\n  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ\n';

/** What takes connections in front of a guest; `onConnection` is what the guest makes of them. */
async function front(t: TestContext, onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

const ask = (port: number, connections: () => string, signal = timeoutSignal(10_000)) =>
  checkGuestPort({ host: '127.0.0.1', port, connections: async () => HEAD + connections(), clock: systemClock, signal });

test('connections that the guest has taken are found by address and port', () => {
  const text = HEAD + line('ESTABLISHED', 20, 80) + line('SYN_SENT', 21, 80) + line('CLOSE_WAIT', 22, 80) + line('ESTABLISHED', 23, 81);
  const found = connectionsAt(text + line('HOST_FORWARD', 15, 80), { host: '127.0.0.1', port: 80 });
  assert.deepEqual(found, { taken: new Set(['20', '22']), waiting: 1 });
});

test('a guest takes a connection when QEMU shows it, not before; one of somebody else from before is none', async (t) => {
  const port = await front(t, () => {});
  const shown = [line('ESTABLISHED', 9, port), line('SYN_SENT', 10, port), line('SYN_SENT', 10, port), line('ESTABLISHED', 10, port)];
  assert.equal(await ask(port, () => (shown.length > 1 ? shown.shift() : shown[0]) ?? ''), undefined);
  assert.equal(shown.length, 1);
});

test('a connection with the number of one that has just ended is taken when none waits for the guest', async (t) => {
  const port = await front(t, () => {});
  const shown = [line('CLOSE_WAIT', 9, port), line('SYN_SENT', 9, port), line('ESTABLISHED', 9, port)];
  assert.equal(await ask(port, () => (shown.length > 1 ? shown.shift() : shown[0]) ?? ''), undefined);
  assert.equal(await ask(port, () => line('ESTABLISHED', 9, port)), undefined, 'also when its way there was not seen');
});

test('a guest that speaks has taken it', async (t) => {
  const port = await front(t, (socket) => socket.write('SSH-2.0'));
  assert.equal(await ask(port, () => ''), undefined);
});

test('a connection that is closed at once was refused, and one that nobody takes up is no answer', async (t) => {
  assert.equal(await ask(await front(t, (socket) => socket.end()), () => ''), 'the guest refused the connection');
  const port = await front(t, () => {});
  const late = new AbortController();
  let looks = 0;
  const answer = ask(
    port,
    () => {
      if (++looks === 3) late.abort();
      return line('SYN_SENT', 10, port);
    },
    late.signal,
  );
  assert.match((await answer) ?? '', /does not answer|aborted/);
});
