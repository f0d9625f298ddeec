import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { type Clock, systemClock } from '../../base/clock.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { until } from '../../testing/until.ts';
import { connectPort, type PortTarget } from './serve-port.ts';

/** A client whose WebSocket was handed to the port; `got` is what came back, message by message. */
async function client(t: TestContext, target: PortTarget): Promise<{ socket: WebSocket; serving: WebSocket; got: Buffer[] }> {
  const connection = await connectPort(target);
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  t.after(() => socket.terminate());
  socket.on('error', () => {});
  const got: Buffer[] = [];
  socket.on('message', (data: Buffer) => got.push(data));
  const [serving] = (await accepted) as [WebSocket];
  t.after(() => serving.terminate());
  connection.carry(serving);
  if (socket.readyState !== WebSocket.OPEN) await once(socket, 'open');
  return { socket, serving, got };
}

/** A port of a guest; `states` is how far QEMU shows the connection to be, look by look. */
function tcpPort(port: number, states = ['ESTABLISHED'], clock: Clock = systemClock): PortTarget {
  let looks = -1; // the first is before it is made
  const connections = async () => {
    const state = states[Math.min(looks++, states.length - 1)];
    return state === undefined ? '' : `  TCP[${state}]      9       127.0.0.1 ${port}        10.0.2.2    80     0     0\n`;
  };
  return { protocol: 'tcp', host: '127.0.0.1', port, connections, clock };
}

/** A guest that says everything it hears again. */
async function udpGuest(t: TestContext): Promise<PortTarget> {
  const guest = createSocket('udp4');
  t.after(() => guest.close());
  guest.on('message', (datagram, { address, port }) => guest.send(datagram, port, address));
  guest.bind(0, '127.0.0.1');
  await once(guest, 'listening');
  return { ...tcpPort(guest.address().port), protocol: 'udp' };
}

test('of UDP each message is a datagram, both ways', async (t) => {
  const { socket, got } = await client(t, await udpGuest(t));
  for (const text of ['one', 'two', '']) socket.send(Buffer.from(text));
  await until(() => got.length === 3);
  assert.deepEqual(got.map(String).sort(), ['', 'one', 'two']);
});

test('datagrams that a slow client does not take are dropped, not kept', async (t) => {
  const { socket, serving, got } = await client(t, await udpGuest(t));
  let [isSlow, datagrams] = [true, 0];
  const bufferedAmount = () => {
    datagrams++; // it is looked at for each
    return isSlow ? 2 * 1024 * 1024 : 0;
  };
  Object.defineProperty(serving, 'bufferedAmount', { get: bufferedAmount });
  socket.send(Buffer.from('lost'));
  socket.send(Buffer.from('lost, too'));
  await until(() => datagrams === 2);
  isSlow = false;
  socket.send(Buffer.from('taken'));
  await until(() => got.length > 0);
  assert.deepEqual(got.map(String), ['taken']);
});

test('TCP is a stream, and the end of the guest’s side ends the other', async (t) => {
  const guest = createServer((socket) => socket.on('error', () => {}).on('data', (bytes) => socket.end(bytes)));
  t.after(() => guest.close());
  guest.listen(0, '127.0.0.1');
  await once(guest, 'listening');
  const { socket, got } = await client(t, tcpPort((guest.address() as AddressInfo).port, ['SYN_SENT', 'ESTABLISHED']));
  socket.send(Buffer.from('hello'));
  await until(() => socket.readyState === WebSocket.CLOSED);
  assert.equal(Buffer.concat(got).toString(), 'hello');
});

test('a port where nobody listens is an error before anybody is told that it stands', async () => {
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  await assert.rejects(connectPort(tcpPort(port)), /ECONNREFUSED/);
});

test('a connection that nobody comes for is closed on the side of the guest, too', async (t) => {
  const guest = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  t.after(() => guest.close());
  await once(guest, 'listening');
  const accepted = once(guest, 'connection');
  const { abandon } = await connectPort(tcpPort((guest.address() as AddressInfo).port));
  const [side] = await accepted;
  abandon();
  await once(side.resume(), 'end');
  side.destroy();
});

test('a port that QEMU opens and the guest refuses, or does not hear of yet, is an error, too', async (t) => {
  const front = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  t.after(() => front.close());
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;
  const refused = connectPort(tcpPort(port, ['SYN_SENT']));
  const [side] = await once(front, 'connection');
  side.end();
  await assert.rejects(refused, /the guest refused the connection/);

  const clock = new FakeClock();
  const booting = connectPort(tcpPort(port, ['SYN_SENT'], clock));
  const outcome = booting.then(
    () => 'taken',
    (error: Error) => error.message,
  );
  const [silent] = await once(front, 'connection');
  clock.advance(5_000);
  assert.equal(await outcome, 'the guest does not answer');
  await new Promise((resolve) => silent.resume().once('close', resolve)); // QEMU is told, too
});

test('what a guest says at once is not lost', async (t) => {
  const guest = createServer((socket) => socket.on('error', () => {}).write('SSH-2.0')).listen(0, '127.0.0.1');
  t.after(() => guest.close());
  await once(guest, 'listening');
  for (const states of [[], ['ESTABLISHED']]) {
    const { socket, got } = await client(t, tcpPort((guest.address() as AddressInfo).port, states));
    await until(() => Buffer.concat(got).toString() === 'SSH-2.0');
    socket.terminate();
  }
});
