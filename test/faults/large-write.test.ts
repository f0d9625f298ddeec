/** One large write with all the watches that are allowed, of several users: nobody else waits for it, and it is in memory a few times at most, not once for each watch. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Told } from './fuzz/server-process.ts';

/** All users together have 2,000; the full count is for `npm run test:soak`. */
const WATCHES = Number(process.env['WATCHES_OF_ALL'] ?? 400);
const OF_ONE_USER = 200;
/** A session has as many streams as the server allows. */
const OF_ONE_SESSION = 50;
const VALUE_BYTES = 900_000;
const WRITES = 3;
/** Of one turn of the event loop, in CPU time. */
const WORST_MS = 300;
/** Above what the server had before the write: far less than a copy for each watch, which would be WATCHES times WRITES times the value. */
const MAX_GROWTH_MIB = 150;

type Ready = Extract<Told, { port: number }>;
type Report = Exclude<Told, Ready>;
const MAPS = '/api/v1/namespaces/default/configmaps';

test(`${WATCHES} watches of several users see a large write, and it stalls nobody`, { timeout: 180_000 + WATCHES * 100 }, async (t) => {
  const child = fork(join(import.meta.dirname, 'fuzz/server-process.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const heard = async <T>() => (await once(child, 'message'))[0] as T; // what server-process.ts tells
  const howIsIt = () => {
    const answer = heard<Report>();
    child.send('how was it?');
    return answer;
  };
  const { port, ...tls } = await heard<Ready>();
  const sessions: ClientHttp2Session[] = [];
  t.after(async () => {
    for (const session of sessions) session.destroy();
    child.disconnect();
    await once(child, 'exit');
  });
  const session = () => {
    const made = connect(`https://localhost:${port}`, { ...tls, host: '127.0.0.1', servername: 'localhost' } as never); // a port of this machine
    made.on('error', () => {}); // each stream tells its own
    sessions.push(made);
    return made;
  };
  const admin = session();
  const send = async (method: string, path: string, body: object) => {
    const stream = admin.request({ ':method': method, ':path': path, 'content-type': 'application/json' });
    stream.end(JSON.stringify(body));
    const [head] = await once(stream, 'response');
    stream.resume();
    return head[':status'] as number; // of every answer
  };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }];
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  assert.equal(await send('POST', bindings, { metadata: { name: 'all-view' }, roleRef, subjects }), 201);

  const watches: Promise<void>[] = [];
  let current = session();
  for (let n = 0; n < WATCHES; n++) {
    if (n % OF_ONE_SESSION === 0) current = session();
    const user = `user-${Math.floor(n / OF_ONE_USER)}`;
    const stream = current.request({
      ':path': `${MAPS}?watch=1&timeoutSeconds=600`,
      'impersonate-user': user,
      'impersonate-group': 'system:authenticated',
    });
    const [head] = await once(stream, 'response');
    assert.equal(head[':status'], 200, `watch ${n}`);
    watches.push(hasSeen(stream, WRITES * VALUE_BYTES));
  }
  const before = await howIsIt();
  for (let n = 0; n < WRITES; n++) {
    const data = { value: String.fromCharCode(97 + n).repeat(VALUE_BYTES) };
    assert.equal(await send('POST', MAPS, { metadata: { name: `large-${n}` }, data }), 201);
  }
  const peak = await howIsIt();
  await Promise.all(watches);
  const after = await howIsIt();
  const worstMs = Math.max(peak.worstMs, after.worstMs);
  const grownMiB = Math.max(peak.residentMiB, after.residentMiB) - before.residentMiB;
  t.diagnostic(`${WATCHES} watches, ${WRITES} writes: ${worstMs.toFixed(0)} ms in the longest turn, ${grownMiB.toFixed(0)} MiB more`);
  assert.ok(worstMs <= WORST_MS, `${worstMs} ms of CPU time in one turn of the event loop`);
  assert.ok(grownMiB <= MAX_GROWTH_MIB, `${grownMiB} MiB more memory`);
});

/** Resolves when so many bytes have come. */
function hasSeen(stream: ClientHttp2Stream, bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    stream.on('data', (chunk: Buffer) => {
      seen += chunk.length;
      if (seen >= bytes) resolve();
    });
    stream.on('close', () => reject(new Error(`the watch ended after ${seen} bytes`)));
    stream.on('error', reject);
  });
}
