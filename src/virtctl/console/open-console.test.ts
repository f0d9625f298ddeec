import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { MOVED_CODE, movedReason } from '../../api/handler/moved.ts';
import { until } from '../../testing/until.ts';
import { openConsole } from './open-console.ts';

/** A server whose connections are answered one after the other, by what the test says. */
async function world(t: TestContext, answers: readonly ((socket: WebSocket) => void)[]) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const paths: string[] = [];
  const heard: string[] = [];
  server.on('connection', (socket, { url = '' }) => {
    const index = paths.push(url.replace(/^.*console/, '')) - 1;
    heard.push('');
    answers[index]?.(socket);
    socket.on('message', (data) => {
      heard[index] += String(data);
    });
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { cluster: { context: 'test', server: `http://127.0.0.1:${port}` }, paths, heard };
}

test('a console goes on where the guest does: what it had not got is sent again, and nothing comes twice', async (t) => {
  const { cluster, paths, heard } = await world(t, [
    (socket) => {
      socket.send(Buffer.from('one '));
      socket.on('message', () => socket.close(MOVED_CODE, movedReason({ taken: 2, printed: 4 })));
    },
    (socket) => socket.send(Buffer.from('two ')),
  ]);
  let moves = 0;
  const onMoved = () => {
    moves += 1;
  };
  const stream = await openConsole(cluster, { namespace: 'default', name: 'db', isShared: true, onMoved });
  let printed = '';
  const over = (async () => {
    for await (const bytes of stream.output) printed += bytes;
  })();
  await until(() => printed === 'one ');
  stream.write(Buffer.from('abcd'));
  await until(() => printed === 'one two ');
  stream.write(Buffer.from('e'));
  await until(() => heard[1] === 'cde');
  stream.close();
  await over;
  assert.deepEqual([paths, moves], [['?shared=true', '?shared=true&from=4'], 1]);
});

test('any other end is the end', async (t) => {
  const { cluster, paths } = await world(t, [(socket) => socket.close(1000, 'the guest has ended')]);
  const stream = await openConsole(cluster, { namespace: 'default', name: 'db', isShared: true });
  for await (const bytes of stream.output) assert.fail(String(bytes));
  assert.deepEqual(paths, ['?shared=true']);
});
