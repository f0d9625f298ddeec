import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pushTarget } from './target.ts';

const VIRTCTL = resolve(import.meta.dirname, '../../../../cmd/virtctl.ts');

test('a name says which registry, and docker.io is elsewhere', () => {
  assert.deepEqual(pushTarget('registry.example.com/team/debian:12', false), {
    name: 'registry.example.com/team/debian:12',
    registry: 'https://registry.example.com',
    repository: 'team/debian',
    tag: '12',
  });
  assert.deepEqual(pushTarget('localhost:5000/debian', true), {
    name: 'localhost:5000/debian:latest',
    registry: 'http://localhost:5000',
    repository: 'debian',
    tag: 'latest',
  });
  assert.deepEqual(pushTarget('me/debian', false), {
    name: 'docker.io/me/debian:latest',
    registry: 'https://registry-1.docker.io',
    repository: 'me/debian',
    tag: 'latest',
  });
});

const NO_TARGETS: [text: string, why: RegExp][] = [
  ['https://registry.example.com/debian', /without https:/],
  ['registry.example.com/Debian', /not written as/],
  ['localhost:99999/debian', /cannot be the address/],
  ['localhost/debian', /without a port/],
  [`registry.example.com/debian@sha256:${'0'.repeat(64)}`, /digest/],
];
for (const [text, why] of NO_TARGETS) {
  test(`${text} is no target`, () => assert.throws(() => pushTarget(text, false), { code: 'TARGET_INVALID', exitCode: 2, why }));
}

/** A folder for everything, with a disk in it, and a registry that leaves a request without an answer. */
async function stuck(t: TestContext, isStuck: (request: IncomingMessage) => boolean) {
  const dir = mkdtempSync(join(tmpdir(), 'image-push-'));
  mkdirSync(join(dir, 'tmp'));
  writeFileSync(join(dir, 'disk.raw'), Buffer.alloc(2 ** 20));
  const reached = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (isStuck(request)) reached.resolve();
    else if (request.method === 'POST') response.writeHead(202, { location: '/upload' }).end();
    else response.writeHead(request.method === 'HEAD' ? 404 : 200).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true });
  });
  return { dir, host: `127.0.0.1:${(server.address() as AddressInfo).port}`, reached: reached.promise };
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} in the middle of an upload leaves nothing behind`, async (t) => {
    const { dir, host, reached } = await stuck(t, ({ method }) => method === 'PUT');
    const env = { ...process.env, VIRT_HOME: join(dir, 'home'), TMPDIR: join(dir, 'tmp'), DOCKER_CONFIG: dir };
    const child = spawn(process.execPath, [VIRTCTL, 'image', 'push', join(dir, 'disk.raw'), `${host}/disk`, '--plain-http'], { env });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
    const ended = once(child, 'close');
    await reached;
    assert.equal(readdirSync(join(dir, 'tmp')).length, 1);
    child.kill(signal);
    assert.deepEqual([(await ended)[0], said], [code, `error[INTERRUPTED]: interrupted before ${host}/disk:latest was pushed\n`]);
    assert.deepEqual(readdirSync(join(dir, 'tmp')), []);
  });
}
