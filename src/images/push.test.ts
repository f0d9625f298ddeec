import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Descriptor, readIndex, readManifest } from './layout.ts';
import { checkRegistry, pushImage } from './push.ts';
import { basic, TestRegistry, type TestRegistryOptions } from './registry.testing.ts';
import type { Login } from './registry-login.ts';
import { writeImage } from './write-image.ts';

const ACCOUNT = 'me:the secret one';
const login: Login = { kind: 'password', authorization: basic(ACCOUNT), file: '/the/file' };
const wrong: Login = { kind: 'password', authorization: basic('me:the wrong one'), file: '/the/file' };

async function image(t: TestContext): Promise<{ dir: string; descriptor: Descriptor; digests: string[] }> {
  const dir = await mkdtemp(join(tmpdir(), 'push-'));
  t.after(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, 'disk'), Buffer.alloc(2 ** 20, 'disk'));
  await writeImage({ dir, reference: 'localhost/x', files: [{ path: join(dir, 'disk'), name: 'disk/disk.img' }], compression: 'none' });
  const [descriptor] = readIndex(dir);
  const { config, layers } = await readManifest(dir, descriptor!); // the one that was written
  return { dir, descriptor: descriptor!, digests: [...layers, config].map(({ digest }) => digest) };
}

type World = Awaited<ReturnType<typeof world>>;

async function world(t: TestContext, options: TestRegistryOptions = {}) {
  const registry = await TestRegistry.start(options);
  t.after(() => registry[Symbol.asyncDispose]());
  const made = await image(t);
  const to = { registry: `http://${registry.host}`, repository: 'team/disk', tag: '12' };
  const push = (by?: Login) => pushImage({ ...to, dir: made.dir, descriptor: made.descriptor, login: by });
  return { ...made, registry, to, push };
}

function assertArrived({ registry, digests }: World): void {
  assert.deepEqual([[...registry.blobs.keys()], [...registry.manifests.keys()]], [digests, ['team/disk:12']]);
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail('it worked'),
    (reason) => reason,
  );
  const text = [error.code, error.message, error.why, error.fix].join('\n');
  assert.doesNotMatch(text, /secret|wrong one|bWU6/); // the last one is how every such login begins in base64
  return text;
}

test('an image arrives whole, and its progress is told', async (t) => {
  const all = await world(t);
  const seen: number[] = [];
  const { dir, descriptor, to } = all;
  await pushImage({ ...to, dir, descriptor, onSent: (sent, of) => seen.push(sent / of) });
  assertArrived(all);
  assert.deepEqual([seen.length > 2, seen.at(-1), [...seen].sort((a, b) => a - b)], [true, 1, seen]);
  assert.equal(all.registry.manifests.get('team/disk:12')?.type, descriptor.mediaType);
});

test('a blob that is there already is not sent again', async (t) => {
  const all = await world(t);
  await all.push();
  all.registry.asked.length = 0;
  await all.push();
  assert.deepEqual(
    all.registry.asked.map(({ what }) => what),
    [...all.digests.map((digest) => `HEAD /v2/team/disk/blobs/${digest}`), 'PUT /v2/team/disk/manifests/12'],
  );
});

test('a password is for a registry that asks for one', async (t) => {
  const open = await world(t);
  await open.push(login);
  assert.deepEqual(open.registry.whoGotWhat(), ['registry nothing']);
  const all = await world(t, { access: 'basic', account: ACCOUNT });
  await all.push(login);
  assertArrived(all);
  assert.deepEqual(all.registry.whoGotWhat(), ['registry nothing', `registry ${login.authorization}`]);
});

test('with tokens the password goes only where they are given out', async (t) => {
  const all = await world(t, { access: 'bearer', account: ACCOUNT });
  await all.push(login);
  assertArrived(all);
  assert.deepEqual(all.registry.whoGotWhat(), ['registry nothing', `elsewhere ${login.authorization}`, 'registry a token']);
});

test('a token that ends in between is replaced, in the middle of a blob and of a manifest, too', async (t) => {
  for (const tokenUses of [1, 2, 3]) {
    const all = await world(t, { access: 'bearer', account: ACCOUNT, tokenUses });
    await all.push(login);
    assertArrived(all);
  }
});

test('without a login there may be tokens for anybody', async (t) => {
  const all = await world(t, { access: 'bearer' });
  await all.push();
  assertArrived(all);
  assert.deepEqual(all.registry.whoGotWhat(), ['registry nothing', 'elsewhere nothing', 'registry a token']);
});

test('an upload on another host goes there without password and token', async (t) => {
  for (const access of ['basic', 'bearer'] as const) {
    const all = await world(t, { access, account: ACCOUNT, hasUploadsElsewhere: true });
    await all.push(login);
    assertArrived(all);
    const uploads = all.registry.asked.filter(({ at, what }) => at === 'elsewhere' && what.startsWith('PUT'));
    assert.deepEqual(
      uploads.map(({ authorization }) => authorization),
      [undefined, undefined],
    );
  }
});

test('who may not is told which login it was, and never what is in it', async (t) => {
  const cases: [TestRegistryOptions, Login | undefined, RegExp][] = [
    [
      { access: 'basic', account: ACCOUNT },
      wrong,
      /^REGISTRY_FORBIDS\n.*\nit answered 401; the login for \S+ is from \/the\/file\npodman login/,
    ],
    [{ access: 'bearer', account: ACCOUNT }, wrong, /^REGISTRY_FORBIDS\n.*\nit answered 401 who are you\?; the login for \S+ is from/],
    [{ access: 'basic', account: ACCOUNT }, undefined, /^REGISTRY_FORBIDS\n.*\n.*; there is no login for \S+ where podman and docker/],
    [
      { access: 'basic', account: ACCOUNT },
      { kind: 'helper', helper: 'desktop', file: '/the/file' },
      /\n.*is kept by the helper "desktop" \(\/the\/file\), which is not run\n.*REGISTRY_AUTH_FILE/,
    ],
  ];
  for (const [options, by, expected] of cases) {
    const all = await world(t, options);
    assert.match(await messageOf(all.push(by)), expected);
    assert.match(await messageOf(checkRegistry({ ...all.to, login: by })), expected);
    assert.equal(all.registry.asked.filter(({ at }) => at === 'registry').length <= 4, true); // none is asked for ever
  }
});

test('tokens are asked for by http and https only', async (t) => {
  const all = await world(t, { access: 'bearer', account: ACCOUNT, realm: 'ftp://127.0.0.1/token' });
  assert.match(await messageOf(all.push(login)), /^REGISTRY_FORBIDS\n.*\nits tokens are given out by \S+, which is not https/);
});

test('a host that we are sent to neither gets the login nor can ask for it', async (t) => {
  const { dir, descriptor, to } = await world(t);
  const stolen: unknown[] = [];
  const thief = createServer(({ url, headers }, response) => {
    stolen.push([url, headers.authorization]);
    response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${headers.host}/steal"` }).end();
  });
  const there = `http://${await listening(thief, t)}/there`;
  const sender = createServer(({ headers }, response) => {
    if (headers.authorization === login.authorization) response.writeHead(307, { location: there }).end();
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="here"' }).end();
  });
  await messageOf(pushImage({ ...to, registry: `http://${await listening(sender, t)}`, dir, descriptor, login }));
  assert.deepEqual(stolen, [['/there', undefined]]);
});

test('a registry that is not there, or speaks otherwise, is named with a way out', async (t) => {
  const check = (registry: string) => messageOf(checkRegistry({ registry, repository: 'x' }));
  const open = await world(t);
  assert.match(await check(`https://${open.registry.host}`), /^REGISTRY_UNREACHABLE\n.*\n.*\nit speaks plain http: say --plain-http/);
  await open.registry[Symbol.asyncDispose]();
  assert.match(await check(open.to.registry), /^REGISTRY_UNREACHABLE\ncannot reach the registry http:\S+\n.*ECONNREFUSED/);
  const says = 'Client sent an HTTP request to an HTTPS server.';
  const secure = await listening(
    createServer((_, response) => response.writeHead(400).end(says)),
    t,
  );
  assert.match(await check(`http://${secure}`), /^REGISTRY_UNREACHABLE\n.*\n.*HTTPS server\.\nit speaks https: leave --plain-http out/);
  const silent = createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  assert.match(await check(`http://${await listening(silent, t)}`), /^REGISTRY_UNREACHABLE\n.*\n.*\nif it speaks https/);
});

test('an interruption is no failure of the registry', async (t) => {
  const all = await world(t);
  const interrupted = new AbortController();
  const { dir, descriptor, to } = all;
  const pushing = pushImage({ ...to, dir, descriptor, signal: interrupted.signal, onSent: () => interrupted.abort('enough') });
  await assert.rejects(pushing, (reason) => reason === 'enough');
  assert.equal(all.registry.manifests.size, 0);
});

async function listening(server: Server | ReturnType<typeof createTcpServer>, t: TestContext): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => new Promise((done) => server.close(done)));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}
