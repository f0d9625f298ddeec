import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../base/errors.ts';
import { connectScreen } from './screen.ts';

test('a guest that is elsewhere, or has no screen, is not found', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const where of [undefined, folder])
    await assert.rejects(connectScreen(where), (error) => error instanceof ApiError && error.reason === 'NotFound');
});

test('what the screen says reaches who looks, and the other way round', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  const screen = createServer((socket) => {
    socket.write('RFB 003.008\n');
    socket.once('data', (said) => socket.end(`heard ${said}`));
  });
  await once(screen.listen(join(folder, 'vnc.sock')), 'listening');
  t.after(() => screen.close());

  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  server.on('connection', async (webSocket) => (await connectScreen(folder))(webSocket));
  await once(server, 'listening');
  const address = server.address();
  const client = new WebSocket(`ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  const [greeting] = await once(client, 'message');
  assert.equal(String(greeting), 'RFB 003.008\n');
  client.send('hello');
  const [answer] = await once(client, 'message');
  assert.equal(String(answer), 'heard hello');
  await once(client, 'close');
});
