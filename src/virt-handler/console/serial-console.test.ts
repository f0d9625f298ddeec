import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { readMoved } from '../../api/handler/moved.ts';
import { buildRoutePath } from '../../api/handler/route-path.ts';
import { HANDLER_ROUTES } from '../../api/handler/routes.ts';
import { SERIAL_LOG, SERIAL_SOCKET } from '../../api/launcher/files.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { ensurePki, type Pki, VIRT_HANDLER_CLIENT_NAME, VIRT_HANDLER_SERVER_NAME } from '../../base/node/pki.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { until } from '../../testing/until.ts';
import { startGuest } from '../guest.testing.ts';
import { onlyAnswers } from '../server/answers.testing.ts';
import { startHandlerServer } from '../server/server.ts';
import { SerialConsole } from './serial-console.ts';

describe('the console of a real guest', () => {
  let folder = '';
  let pki: Pki;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
    pki = await ensurePki(join(folder, 'pki'), systemClock);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('what is typed comes back', async (t) => {
    const { connect } = await serve(t);
    const client = connect('', ['plain.kubevirt.io']);
    await client.opened;
    assert.equal(client.socket.protocol, 'plain.kubevirt.io');
    client.socket.send(Buffer.from('hello'));
    await until(() => client.text().endsWith('hello'));
  });

  test('a second plain client cuts the first off without a close frame, and leaves shared ones alone', async (t) => {
    const { connect } = await serve(t);
    const [shared, first] = [connect('?shared=true'), connect()];
    await Promise.all([shared.opened, first.opened]);
    const second = connect();
    const [code] = await once(first.socket, 'close');
    assert.equal(code, 1006);
    second.socket.send(Buffer.from('x'));
    await until(() => second.text() === 'x' && shared.text().endsWith('x'));
  });

  test('a shared client sees what was written before it came', async (t) => {
    const { connect } = await serve(t);
    const first = connect('?shared=true');
    await first.opened;
    first.socket.send(Buffer.from('hello'));
    await until(() => first.text().endsWith('!hello'));
    const second = connect('?shared=true');
    await until(() => second.text().endsWith('!hello'));
  });

  test('of several shared clients one types, and another can take that over', async (t) => {
    const { connect } = await serve(t);
    const first = connect('?shared=true');
    await until(() => first.told().join() === 'writing');
    const second = connect('?shared=true');
    await until(() => second.told().join() === 'writing' && first.told().join() === 'writing,watching');
    first.socket.send(Buffer.from('a'));
    second.socket.send(Buffer.from('b'));
    await until(() => first.text().endsWith('!b'));
    first.socket.send('take-over');
    await until(() => second.told().join() === 'writing,watching');
    first.socket.send(Buffer.from('c'));
    await until(() => second.text().endsWith('!bc'));
    second.socket.send(Buffer.from('d'));
    first.socket.close();
    await first.closed;
    await until(() => {
      second.socket.send(Buffer.from('e'));
      return /!bce+$/.test(second.text());
    }, 'nobody types, so whoever tries does');
  });

  test('who only looks takes nothing from who types', async (t) => {
    const { connect } = await serve(t);
    const typing = connect('?shared=true');
    await typing.opened;
    const looking = connect('?shared=true&write=false');
    await looking.opened;
    looking.socket.send(Buffer.from('a'));
    looking.socket.send('take-over');
    typing.socket.send(Buffer.from('b'));
    await until(() => looking.text().endsWith('!b'));
    assert.deepEqual([typing.told(), looking.told()], [['writing'], []]);
  });

  test('a client that does not follow gets what was written, and then the end', async (t) => {
    const { connect } = await serve(t);
    const first = connect('?shared=true');
    await first.opened;
    first.socket.send(Buffer.from('hello'));
    await until(() => first.text().endsWith('!hello'));
    const second = connect('?shared=true&follow=false');
    assert.match(await second.closed, /that is all so far/);
    assert.match(second.text(), /!hello$/);
  });

  test('a client that does not read does not stop the guest', async (t) => {
    const { connect } = await serve(t);
    const [lazy, eager] = [connect('?shared=true'), connect('?shared=true')];
    await Promise.all([lazy.opened, eager.opened]);
    lazy.socket.pause();
    eager.socket.send(Buffer.from('f'));
    const start = eager.bytes();
    await until(() => eager.bytes() > start + 100_000, '100 kB of output');
    lazy.socket.terminate();
  });

  test('a viewer that is too slow is dropped, the others are not', async (t) => {
    const { serial, connect } = await serve(t);
    const { promise: dropped, resolve } = Promise.withResolvers<string>();
    const silent = { showTurn: () => {}, move: () => {}, cut: () => {} };
    serial.attach({ isShared: true, writes: false, taken: 0, ...silent, send: () => false, close: resolve });
    const client = connect();
    await client.opened;
    client.socket.send(Buffer.from('x'));
    assert.equal(await dropped, 'too slow');
    await until(() => client.text() === 'x');
  });

  test('the end of the guest ends the connection', async (t) => {
    const { connect, serial } = await serve(t);
    const client = connect();
    await client.opened;
    serial.close();
    assert.equal(await client.closed, 'the guest has ended');
  });

  test('while a guest is on its way nothing is typed; then ours are told what it got and the others are cut off', async (t) => {
    const { connect, serial } = await serve(t);
    const plain = connect();
    await plain.opened;
    const shared = connect('?shared=true');
    await until(() => shared.told().join() === 'writing');
    shared.socket.send(Buffer.from('abc'));
    await until(() => shared.text().endsWith('!abc'));
    serial.hold(true);
    shared.socket.send(Buffer.from('lost?'));
    const printed = serial.giveAway().length;
    const ended = once(shared.socket, 'close');
    const cut = once(plain.socket, 'close');
    serial.close('moved');
    const [code, reason] = await ended;
    assert.deepEqual(readMoved(code, String(reason)), { taken: 3, printed });
    assert.equal((await cut)[0], 1006);
    assert.match(shared.text(), /!abc$/);
  });

  test('a guest that was called back gets what was typed meanwhile', async (t) => {
    const { connect, serial } = await serve(t);
    const client = connect('?shared=true');
    await until(() => client.told().join() === 'writing');
    serial.hold(true);
    client.socket.send(Buffer.from('a'));
    client.socket.send(Buffer.from('b'));
    await connect('?shared=true&write=false').opened; // what was sent before it has come by now
    assert.match(client.text(), /!$/);
    serial.hold(false);
    await until(() => client.text().endsWith('!ab'));
  });

  test('what was printed elsewhere is there, and who comes back gets what is new', async (t) => {
    const { connect, serial } = await serve(t);
    const first = connect('?shared=true');
    await until(() => first.text().endsWith('!'));
    await serial.takePast(Buffer.from('elsewhere '));
    first.socket.send(Buffer.from('x'));
    await until(() => first.text().endsWith('!x'));
    const [all, back] = [connect('?shared=true&write=false'), connect('?shared=true&from=10')];
    await until(() => /^elsewhere [\s\S]*!x$/.test(all.text()) && /^(?!else)[\s\S]*!x$/.test(back.text()));
    assert.deepEqual(back.told(), [], 'who typed before goes on typing');
  });

  async function serve(t: TestContext) {
    const guest = await startGuest(t);
    const serial = new SerialConsole({ folder: guest.folder, clock: systemClock, log: silentLogger });
    t.after(() => serial.close());
    serial.open();
    const certs = { ...pki.virtHandler, ca: pki.kubevirtCa };
    const server = await startHandlerServer({
      certs,
      allowedClients: [VIRT_HANDLER_CLIENT_NAME],
      host: '127.0.0.1',
      port: 0,
      clock: systemClock,
      log: silentLogger,
      answers: onlyAnswers({ console: ({ question }) => serial.connect(question) }),
    });
    t.after(() => server.close());
    const connect = (query = '', protocols: string[] = []) => collect(open(server.port, `${PATH}${query}`, protocols));
    return { serial, connect };
  }

  function open(port: number, path: string, protocols: string[]): WebSocket {
    const identity = { ...pki.virtHandlerClient, ca: pki.kubevirtCa, servername: VIRT_HANDLER_SERVER_NAME };
    return new WebSocket(`wss://127.0.0.1:${port}${path}`, protocols, identity);
  }
});

const PATH = buildRoutePath(HANDLER_ROUTES.console.path, { namespace: 'default', name: 'db' });

function collect(socket: WebSocket) {
  const chunks: Buffer[] = [];
  const words: string[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => (isBinary ? chunks.push(data) : words.push(String(data))));
  socket.on('error', () => {});
  const text = () => Buffer.concat(chunks).toString();
  const bytes = () => chunks.reduce((sum, { length }) => sum + length, 0);
  const closed = once(socket, 'close').then(([, reason]) => String(reason));
  return { socket, text, bytes, told: () => words, closed, opened: once(socket, 'open') };
}

test('what is printed while the connection is made is not lost, nor shown twice', async (t) => {
  const folder = await temporaryFolder(t);
  const log = join(folder, SERIAL_LOG);
  await writeFile(log, 'before ');
  const server = createServer((socket) => {
    appendFileSync(log, 'meanwhile after'); // QEMU takes the connection between the two
    socket.write('after');
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(join(folder, SERIAL_SOCKET), resolve));
  const console = new SerialConsole({ folder, clock: systemClock, log: silentLogger });
  t.after(() => console.close());
  console.open();
  await until(() => String(console.past()) === 'before meanwhile after');
});
