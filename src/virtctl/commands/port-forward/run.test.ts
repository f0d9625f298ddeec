import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { ApiError } from '../../../base/errors.ts';
import { vm, vmi } from '../../../testing/builders.ts';
import { until } from '../../../testing/until.ts';
import { type Answers, testDeps } from '../../deps.testing.ts';
import type { ClusterDeps } from '../../deps.ts';
import { run } from './run.ts';

const BASE = 'GET /apis/kubevirt.io/v1/namespaces/default';
const RUNNING = { [`${BASE}/virtualmachines/db`]: vm('Always'), [`${BASE}/virtualmachineinstances/db`]: vmi('Running') };
const FLAGS = { stdio: false, address: '127.0.0.1' };

/** A guest that answers with what it was sent. */
function forwarding(answers: Answers, overrides: Partial<ClusterDeps> = {}) {
  const stop = new AbortController();
  const paths: string[] = [];
  const openStream = async (path: string): Promise<Duplex> => {
    paths.push(path);
    return new PassThrough();
  };
  return { ...testDeps(answers, { openStream, signal: stop.signal, ...overrides }), stop, paths };
}

async function portOf(stderr: () => string): Promise<number> {
  await until(() => /forwarding \w+ 127\.0\.0\.1:\d+ to/.test(stderr()), 'a port');
  return Number(/127\.0\.0\.1:(\d+)/.exec(stderr())?.[1]);
}

test('a connection to the port is carried to the guest', async () => {
  const { deps, stderr, stop, paths } = forwarding(RUNNING);
  const done = run(deps, FLAGS, 'vm/db', '0:80');
  const socket = connect(await portOf(stderr), '127.0.0.1');
  socket.write('hello');
  assert.equal(String((await once(socket, 'data'))[0]), 'hello');
  socket.destroy();
  stop.abort();
  await done.catch(() => {});
  assert.deepEqual(paths, ['/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/portforward/80/tcp']);
});

test('datagrams, too', async () => {
  const { deps, stderr, stop, paths } = forwarding(RUNNING);
  const done = run(deps, FLAGS, 'vmi/db', 'udp/0:53');
  const socket = createSocket('udp4');
  socket.send('question', await portOf(stderr), '127.0.0.1');
  assert.equal(String((await once(socket, 'message'))[0]), 'question');
  socket.close();
  stop.abort();
  await done.catch(() => {});
  assert.deepEqual(paths, ['/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/portforward/53/udp']);
});

test('--stdio carries one port over standard input and output', async () => {
  const stdout = new PassThrough();
  const guest = Duplex.from({ readable: new PassThrough().end('SSH-2.0'), writable: new PassThrough() });
  const { deps } = testDeps({}, { stdout, openStream: async () => guest });
  await run(deps, { ...FLAGS, stdio: true }, 'vm/db', '22');
  stdout.end();
  assert.equal(await text(stdout), 'SSH-2.0');
  await assert.rejects(run(deps, { ...FLAGS, stdio: true }, 'vm/db', '22', '23'), { code: 'USAGE' });
});

test('a guest in which nothing listens is told with what to do, and not with a stack', async () => {
  const refused = new ApiError('InternalError', 'Cannot connect to port 22 of the guest default/db: the guest refused the connection');
  const { deps } = testDeps(RUNNING, { openStream: () => Promise.reject(refused) });
  await assert.rejects(run(deps, { ...FLAGS, stdio: true }, 'vm/db', '22'), { code: 'GUEST_REFUSED', exitCode: 4, fix: /virtctl console/ });
});

test('a machine that does not run is said before the first connection', async () => {
  const { deps, stderr, stop } = forwarding({ [`${BASE}/virtualmachines/db`]: vm('Halted', { printableStatus: 'Stopped' }) });
  const done = run(deps, FLAGS, 'vm/db', '0:80');
  await portOf(stderr);
  stop.abort();
  await done.catch(() => {});
  assert.match(stderr(), /^db is not running \(Stopped\): connections fail until it does; virtctl start db starts it/);
});

test('a machine that is not there is an error, and no port is opened', async () => {
  const { deps, stderr } = forwarding({});
  await assert.rejects(run(deps, FLAGS, 'vm/db', '0:80'), { reason: 'NotFound', message: /no virtual machine "db"/ });
  assert.equal(stderr(), '');
});

test('a port that is in use is said, with what to do', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo; // it listens
  const { deps } = forwarding(RUNNING);
  await assert.rejects(run(deps, FLAGS, 'vm/db', `${port}:80`), {
    code: 'PORT_IN_USE',
    message: `cannot listen on 127.0.0.1:${port}`,
    fix: 'choose another local port, such as 8080:80, or 0:80 for a free one',
    exitCode: 4,
  });
});
