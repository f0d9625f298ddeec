import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { until } from '../../testing/until.ts';
import { openDownloadCache } from './download-cache.ts';
import { startFileServer } from './file-server.testing.ts';

const CONTENT = randomBytes(300_000);
const clock = {
  ...systemClock,
  now: () => systemClock.now(),
  steady: () => systemClock.steady(),
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 5), signal),
};
const sha = (algorithm: string, bytes: Buffer) => `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;

async function world(t: TestContext, limits: { maxBytes?: number; stallMs?: number; slowMs?: number } = {}, maxBytes = 2 ** 30) {
  const server = await startFileServer(t, CONTENT);
  const cache = mkdtempSync(join(tmpdir(), 'downloads-'));
  t.after(() => rmSync(cache, { recursive: true }));
  const open = () => openDownloadCache({ cache, clock, maxBytes, limits });
  const url = `${server.origin}/disk.img`;
  const get = (digest?: string, signal = new AbortController().signal, at = url) => open().get({ url: at, named: at, digest, signal });
  const folders = () => readdirSync(join(cache, 'downloads')).filter((name) => !name.startsWith('.'));
  const files = () => folders().flatMap((name) => readdirSync(join(cache, 'downloads', name)).sort());
  return { server, url, get, files, folders, cache, open };
}

test('a download that the network cuts off goes on where it was', async (t) => {
  const { server, get } = await world(t);
  Object.assign(server, { cutAt: 100_000, cuts: 1 });
  const { path, digest } = await get();
  assert.deepEqual([readFileSync(path).equals(CONTENT), digest], [true, sha('sha256', CONTENT)]);
  assert.deepEqual(server.requests, ['/disk.img', '/disk.img bytes=100000-']);
});

test('one that the user ended goes on in the next call, and counts what was here', async (t) => {
  const { server, get, open, url } = await world(t);
  server.stallAt = 120_000;
  const user = new AbortController();
  const first = get(undefined, user.signal);
  await until(() => server.requests.length === 1, 'the request');
  setTimeout(() => user.abort(new Error('Ctrl+C')), 100);
  await assert.rejects(first, /Ctrl\+C/);
  server.stallAt = undefined;
  const seen: number[] = [];
  const { path } = await open().get({
    url,
    named: url,
    signal: new AbortController().signal,
    onProgress: ({ resumedBytes }) => seen.push(resumedBytes),
  });
  assert.ok(readFileSync(path).equals(CONTENT));
  assert.deepEqual([server.requests[1], seen.at(-1)], ['/disk.img bytes=120000-', 120_000]);
});

test('a part of a file that has changed since is not gone on with', async (t) => {
  const { server, get } = await world(t);
  Object.assign(server, { cutAt: 100_000, cuts: 1 });
  const other = randomBytes(200_000);
  const before = server.requests.length;
  const got = get();
  await until(() => server.requests.length > before, 'the first answer');
  Object.assign(server, { content: other, etag: '"two"' });
  assert.ok(readFileSync((await got).path).equals(other));
});

test('a server without ranges sends all of it again', async (t) => {
  const { server, get } = await world(t);
  Object.assign(server, { cutAt: 100_000, cuts: 1, hasRanges: false });
  assert.ok(readFileSync((await get()).path).equals(CONTENT));
});

test('wrong bytes are an error with both digests, and leave nothing', async (t) => {
  const { get, files } = await world(t);
  const expected = `sha512:${'0'.repeat(128)}`;
  await assert.rejects(get(expected), { code: 'DIGEST_MISMATCH', why: `its digest is ${sha('sha512', CONTENT)}, expected is ${expected}` });
  assert.deepEqual(files(), []);
});

test('what has its digest is not asked for again; what has none is asked about; out of reach it is used and that is said', async (t) => {
  const { server, get } = await world(t);
  const digest = sha('sha512', CONTENT);
  await get(digest);
  await get(digest);
  assert.equal(server.requests.length, 1);
  assert.equal((await get()).note, undefined); // answered with 304
  assert.equal(server.requests.length, 2);
  server.pages.set('/disk.img', (_, response) => response.writeHead(503).end());
  assert.equal((await get()).note, 'the server answered 503');
  server.pages.clear();
  Object.assign(server, { content: randomBytes(10), etag: '"two"' });
  assert.equal(readFileSync((await get()).path).length, 10);
});

test('a file that somebody has changed in the cache is fetched anew', async (t) => {
  const { get } = await world(t);
  const { path } = await get();
  rmSync(path);
  await get();
  writeFileSync(path, 'other');
  assert.ok(readFileSync((await get()).path).equals(CONTENT));
});

test('however many ask at the same time, there is one download', async (t) => {
  const { server, get } = await world(t);
  const digest = sha('sha256', CONTENT);
  const all = await Promise.all([get(digest), get(digest), get(digest)]);
  assert.deepEqual([new Set(all.map(({ path }) => path)).size, server.requests.length], [1, 1]);
});

test('too much and too slow are refused', async (t) => {
  const { server, get, files } = await world(t, { maxBytes: 1000, stallMs: 50 });
  await assert.rejects(get(), { code: 'DOWNLOAD_TOO_LARGE' });
  assert.deepEqual(files(), []);
  server.pages.set('/disk.img', (_, response) => void response.writeHead(200).write('x'.repeat(2000))); // and does not say how long it is
  await assert.rejects(get(), { code: 'DOWNLOAD_TOO_LARGE' });
  server.pages.set('/disk.img', () => {});
  await assert.rejects(get(), { code: 'DOWNLOAD_FAILED', why: 'it was silent for 0.05 s', exitCode: 8 });
});

test('a server that sends a little now and then is given up, and what it sent is kept', async (t) => {
  const { server, get, files } = await world(t, { slowMs: 100 });
  server.pages.set('/disk.img', (_, response) => {
    const timer = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(timer));
  });
  await assert.rejects(get(), { code: 'DOWNLOAD_FAILED', why: /^in 0.1 s its server sent \d+ bytes; less than 1Mi/, exitCode: 8 });
  assert.deepEqual([files(), server.requests.length], [['partial', 'partial.json'], 1]);
});

test('what a write that failed has left behind does not stay in the middle of the file', async (t) => {
  const { server, url, cache, folders } = await world(t);
  Object.assign(server, { cutAt: 100_000, cuts: 1 });
  const sleep = async () => appendFileSync(join(cache, 'downloads', folders()[0] ?? '', 'partial'), 'a part of a piece');
  const cached = openDownloadCache({ cache, clock: { ...clock, sleep }, maxBytes: 2 ** 30 });
  const { path } = await cached.get({ url, named: url, signal: new AbortController().signal });
  assert.ok(readFileSync(path).equals(CONTENT));
  assert.deepEqual(server.requests, ['/disk.img', '/disk.img bytes=100000-']);
});

test('answers that say no are told as such', async (t) => {
  const { server, get } = await world(t);
  server.pages.set('/disk.img', (_, response) => response.writeHead(404).end());
  await assert.rejects(get(), { code: 'DOWNLOAD_MISSING', exitCode: 3 });
  server.pages.set('/disk.img', (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end());
  await assert.rejects(get(), { code: 'ADDRESS_REFUSED', why: /not https/, exitCode: 6 });
  assert.equal(server.requests.filter((path) => path === '/disk.img').length, 2, 'nothing will change: it is asked once');
});

test('where nothing came, nothing is said to be kept', async (t) => {
  const { server, get } = await world(t);
  server.pages.set('/disk.img', (_, response) => response.destroy());
  await assert.rejects(get(), { code: 'DOWNLOAD_FAILED', fix: /check the address/ });
});

test('what somebody else names does not lead to this machine', async (t) => {
  const { server, open, url } = await world(t);
  const got = open().get({ url, named: 'https://team.example/catalogue.json', signal: new AbortController().signal });
  await assert.rejects(got, { code: 'ADDRESS_REFUSED', message: /is not asked/, why: /only a registry at the loopback/ });
  assert.deepEqual(server.requests, []);
});

test('the files that nobody has used for longest make way', async (t) => {
  const { get, folders, cache, server } = await world(t, {}, 700_000);
  const old = await get(undefined, undefined, `${server.origin}/a`);
  await get(undefined, undefined, `${server.origin}/b`);
  const hourAgo = Date.now() / 1000 - 3600;
  for (const name of folders()) utimesSync(join(cache, 'downloads', name), hourAgo, old.path.includes(name) ? hourAgo - 60 : hourAgo);
  await get(undefined, undefined, `${server.origin}/c`);
  assert.deepEqual([existsSync(old.path), folders().length], [false, 2]);
});
