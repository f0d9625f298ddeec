import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { VNC_SOCKET } from '../../api/launcher/files.ts';
import { ApiError } from '../../base/errors.ts';
import { until } from '../../testing/until.ts';
import { Screens, type ScreenWish } from './screen.ts';

const GREETING = Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1])]);
const key = (symbol: string, isDown: boolean) => Buffer.from([4, isDown ? 1 : 0, 0, 0, 0, 0, 0, symbol.charCodeAt(0)]);

/** A screen that keeps what each of its viewers sends, and a way to it as virt-handler offers it. */
async function world(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  const heard: Buffer[] = [];
  const sockets: Socket[] = [];
  const screen = createServer((socket) => {
    const index = heard.push(Buffer.alloc(0)) - 1;
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (said) => {
      heard[index] = Buffer.concat([heard[index] ?? said, said]);
    });
    socket.write('RFB 003.008\n');
  });
  await once(screen.listen(join(folder, VNC_SOCKET)), 'listening');
  const screens = new Screens();
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', async (webSocket, { url = '/' }) => {
    const wish = url.slice(1) as ScreenWish; // as the test asks
    (await screens.connect({ key: 'default/db', folder, wish })).carry(webSocket);
  });
  await once(server, 'listening');
  const clients: WebSocket[] = [];
  t.after(() => {
    for (const client of clients) client.terminate();
    for (const socket of sockets) socket.destroy();
    server.close();
    screen.close();
  });
  const address = server.address();
  const look = async (wish: ScreenWish): Promise<WebSocket> => {
    const client = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/${wish}`);
    clients.push(client);
    client.on('error', () => {});
    const [greeting] = await once(client, 'message');
    assert.equal(String(greeting), 'RFB 003.008\n');
    client.send(GREETING);
    return client;
  };
  /** What the screen has heard of the viewer with this number, after the greeting. */
  const isHeard = (index: number, ...messages: Buffer[]) =>
    until(async () => heard[index]?.subarray(GREETING.length).equals(Buffer.concat(messages)) ?? false);
  return { folder, screens, look, isHeard };
}

test('a guest that has no screen is not found', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  await assert.rejects(
    new Screens().connect({ key: 'default/db', folder, wish: 'shared' }),
    (error) => error instanceof ApiError && error.reason === 'NotFound',
  );
});

test('of several viewers the newest has keys and pointer, until another takes over', async (t) => {
  const { look, isHeard } = await world(t);
  const first = await look('shared');
  first.send(key('a', true));
  await isHeard(0, key('a', true));
  const second = await look('shared');
  await isHeard(0, key('a', true), key('a', false)); // it lets go of what it held
  first.send(key('b', true));
  second.send(key('c', true));
  await isHeard(1, key('c', true));
  first.send('take-over');
  await isHeard(1, key('c', true), key('c', false));
  first.send(key('d', true));
  await isHeard(0, key('a', true), key('a', false), key('d', true)); // without what came when it was not its turn
  first.close();
  await once(first, 'close');
  second.send(key('e', true));
  await isHeard(1, key('c', true), key('c', false), key('e', true)); // nobody has the turn, so who tries gets it
});

test('who only watches never has the turn, and takes it from nobody', async (t) => {
  const { look, isHeard } = await world(t);
  const writer = await look('shared');
  const watcher = await look('watching');
  watcher.send('take-over');
  watcher.send(key('x', true));
  const picture = Buffer.from([3, 0, 0, 0, 0, 0, 0, 9, 0, 9]);
  watcher.send(picture);
  await isHeard(1, picture);
  writer.send(key('a', true));
  await isHeard(0, key('a', true));
});

test('a plain viewer always has both, and takes the turn from the others when it comes', async (t) => {
  const { look, isHeard, screens, folder } = await world(t);
  const shared = await look('shared');
  shared.send(key('a', true));
  await isHeard(0, key('a', true));
  const plain = await look('plain');
  await isHeard(0, key('a', true), key('a', false));
  plain.send(Buffer.from('anything at all'));
  await isHeard(1, Buffer.from('anything at all'));
  await assert.rejects(screens.connect({ key: 'default/db', folder, wish: 'preserve' }), { reason: 'ServiceUnavailable' });
  const closed = once(plain, 'close');
  await look('plain');
  assert.deepEqual([(await closed)[0], shared.readyState], [1000, WebSocket.OPEN]);
});

test('a viewer that is not understood is sent away', async (t) => {
  const { look } = await world(t);
  const odd = await look('shared');
  const closed = once(odd, 'close');
  odd.send(Buffer.from([99]));
  assert.equal((await closed)[0], 1003);
});
