import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { INDEX_TYPE, readIndex, readManifest } from './layout.ts';
import { type PullOptions, pullImage } from './pull.ts';
import { pushImage } from './push.ts';
import { basic, digestOf, TestRegistry, type TestRegistryOptions } from './registry.testing.ts';
import type { Login } from './registry-login.ts';
import { SharedWork } from './shared-work.ts';
import { openImageStore } from './store.ts';
import { writeImage } from './write-image.ts';

const ACCOUNT = 'me:the secret one';
const login: Login = { kind: 'password', authorization: basic(ACCOUNT), file: '/the/file' };
const wrong: Login = { kind: 'password', authorization: basic('me:the wrong one'), file: '/the/file' };
const DISK_BYTES = 2 ** 20;

/** A registry with an image, and an empty store. */
async function world(t: TestContext, options: TestRegistryOptions = {}) {
  const registry = await TestRegistry.start(options);
  t.after(() => registry[Symbol.asyncDispose]());
  const dir = await mkdtemp(join(tmpdir(), 'pull-'));
  t.after(() => rm(dir, { recursive: true }));
  const made = join(dir, 'made');
  await writeFile(join(dir, 'disk'), Buffer.alloc(DISK_BYTES, 'disk'));
  await writeImage({
    dir: made,
    reference: 'localhost/x',
    files: [{ path: join(dir, 'disk'), name: 'disk/disk.img' }],
    compression: 'none',
  });
  const [descriptor] = readIndex(made);
  const to = { registry: `http://${registry.host}`, repository: 'team/disk' };
  await pushImage({ ...to, dir: made, descriptor: descriptor!, tag: '12', login }); // the one that was written
  registry.asked.length = 0;
  const { layers } = await readManifest(made, descriptor!);
  const store = join(dir, 'store');
  const reference = `${registry.host}/team/disk:12`;
  const pull = (more: Partial<PullOptions> = {}) => pullImage({ dir: store, reference, sources: [{ ...to, logins: [] }], ...more });
  return { registry, to, store, reference, pull, digest: descriptor!.digest, layer: layers[0]!.digest };
}

const leftovers = (store: string) => readdirSync(join(store, 'blobs')).filter((name) => !/^(sha256|\.lock-)/.test(name));
const fetches = ({ asked }: TestRegistry, digest: string) =>
  asked.filter(({ what }) => what === `GET /v2/team/disk/blobs/${digest}`).length;

test('an image arrives whole under its name, and its progress is told', async (t) => {
  const all = await world(t);
  const seen: number[] = [];
  const { digest } = await all.pull({ onProgress: ({ doneBytes, allBytes }) => seen.push(doneBytes / allBytes) });
  assert.deepEqual([digest, seen.at(-1), [...seen].sort((a, b) => a - b)], [all.digest, 1, seen]);
  const store = openImageStore(all.store);
  assert.deepEqual(store.resolve(all.reference), { digest: all.digest, isPulled: true });
  assert.equal(readFileSync(join(await store.unpacked(all.reference), 'disk/disk.img')).length, DISK_BYTES);
  assert.deepEqual(leftovers(all.store), []);
});

test('a password and a token open what is closed, and each login is tried', async (t) => {
  for (const access of ['basic', 'bearer'] as const) {
    const all = await world(t, { access, account: ACCOUNT });
    const by = (...logins: Login[]) => all.pull({ sources: [{ ...all.to, logins }] });
    assert.equal((await by(wrong, login)).digest, all.digest);
    await assert.rejects(by(wrong), { code: 'REGISTRY_FORBIDS', message: /does not give out/ });
  }
});

test('a mirror that does not have it is passed over', async (t) => {
  const all = await world(t);
  const mirrors = [
    { ...all.to, repository: 'cache/disk', logins: [] },
    { registry: 'http://127.0.0.1:1', repository: 'team/disk', logins: [] },
  ];
  assert.equal((await all.pull({ sources: [...mirrors, { ...all.to, logins: [] }] })).registry, all.to.registry);
});

test('a download that breaks goes on where it was, also in the next try of another process', async (t) => {
  const all = await world(t, { breaksAfterBytes: 300_000 });
  await all.pull();
  const ranges = fetches(all.registry, all.layer);
  assert.equal(ranges, 4);
  const other = join(all.store, '..', 'other');
  openImageStore(other);
  const blob = all.registry.blobs.get(all.layer)!; // pushed above
  writeFileSync(join(other, 'blobs', `.partial-${all.layer.slice(7)}`), blob.subarray(0, blob.length - 5));
  await all.pull({ dir: other });
  assert.equal(fetches(all.registry, all.layer), ranges + 1);
  assert.deepEqual(leftovers(other), []);
});

test('a registry without ranges sends all of it again', async (t) => {
  const all = await world(t, { hasNoRanges: true });
  openImageStore(all.store);
  writeFileSync(join(all.store, 'blobs', `.partial-${all.layer.slice(7)}`), 'another beginning');
  assert.equal((await all.pull()).digest, all.digest);
});

test('bytes that are not those of the digest are thrown away, and so are too many', async (t) => {
  const all = await world(t);
  const blob = all.registry.blobs.get(all.layer)!; // pushed above
  for (const [bytes, why] of [
    [Buffer.alloc(blob.length, 'evil'), /its digest is/],
    [Buffer.concat([blob, Buffer.from('more')]), /more than the \d+ bytes that were promised/],
  ] as const) {
    all.registry.blobs.set(all.layer, bytes);
    await assert.rejects(all.pull(), { reason: 'Invalid', message: why });
    const partial = join(all.store, 'blobs', `.partial-${all.layer.slice(7)}`);
    assert.deepEqual([existsSync(partial), openImageStore(all.store).resolve(all.reference)], [false, undefined]);
  }
});

test('who asks for the same image at the same time waits for the one download', async (t) => {
  const all = await world(t);
  const downloads = new SharedWork<void>();
  const gaveUp = new AbortController();
  const [first, second, third] = [1, 2, 3].map((each) => all.pull({ downloads, ...(each === 1 && { signal: gaveUp.signal }) }));
  gaveUp.abort(new Error('gave up'));
  await assert.rejects(first!, /gave up/); // one of the three above
  assert.deepEqual([(await second!).digest, (await third!).digest, fetches(all.registry, all.layer)], [all.digest, all.digest, 1]);
});

test('of an index the manifest for this machine is taken, by tag and by the digest of the index', async (t) => {
  const all = await world(t);
  const { body, type } = all.registry.manifests.get('team/disk:12')!; // pushed above
  const own = { mediaType: type, digest: all.digest, size: body.length };
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: INDEX_TYPE,
    manifests: [
      { ...own, digest: `sha256:${'0'.repeat(64)}`, platform: { os: 'linux', architecture: 's390x' } },
      { ...own, platform: { os: 'linux', architecture: 'amd64' } },
    ],
  });
  const digest = digestOf(Buffer.from(index));
  for (const key of ['many', digest]) all.registry.manifests.set(`team/disk:${key}`, { type: INDEX_TYPE, body: index });
  for (const name of [':many', `@${digest}`]) {
    const reference = `${all.registry.host}/team/disk${name}`;
    assert.equal((await all.pull({ reference, architecture: 'amd64' })).digest, all.digest);
    assert.equal(openImageStore(all.store).resolve(reference)?.digest, all.digest);
  }
  const reference = `${all.registry.host}/team/disk:many`;
  await assert.rejects(
    all.pull({ reference, architecture: 'riscv64' }),
    /no image for linux\/riscv64, only for linux\/s390x, linux\/amd64/,
  );
});

test('what an image promises is bounded before anything of it is fetched', async (t) => {
  const all = await world(t);
  await assert.rejects(all.pull({ maxBytes: 1000 }), /the image is refused: it has \d+ bytes, the limit is 1000/);
  const manifest = JSON.parse(all.registry.manifests.get('team/disk:12')!.body); // pushed above
  const [layer] = manifest.layers;
  const lies: [object, RegExp | { code: string }][] = [
    [{ layers: Array.from({ length: 128 }, () => layer) }, /has 128 layers, the limit is 127/],
    [{ layers: [{ ...layer, mediaType: 'text/html' }] }, /layers of type "text\/html" are not supported/],
    [{ layers: [{ ...layer, size: 2 ** 50 }] }, { code: 'DISK_FULL' }],
    [{ layers: [{ ...layer, digest: 'sha256:../../x' }] }, /without a valid digest/],
  ];
  for (const [lie, why] of lies) {
    all.registry.manifests.set('team/disk:12', { type: manifest.mediaType, body: JSON.stringify({ ...manifest, ...lie }) });
    await assert.rejects(all.pull({ maxBytes: 2 ** 52 }), why);
  }
  assert.deepEqual(fetches(all.registry, all.layer), 0);
  assert.equal(existsSync(join(all.store, 'blobs', 'sha256', all.layer.slice(7))), false);
});

test('a manifest by digest has that digest', async (t) => {
  const all = await world(t);
  const other = `sha256:${'1'.repeat(64)}`;
  all.registry.manifests.set(`team/disk:${other}`, all.registry.manifests.get('team/disk:12')!); // pushed above
  await assert.rejects(all.pull({ reference: `${all.registry.host}/team/disk@${other}` }), /is refused: its digest is/);
});

test('the name that moves leaves the old image to be found by its digest', async (t) => {
  const all = await world(t);
  await all.pull();
  const { body, type } = all.registry.manifests.get('team/disk:12')!; // pushed above
  const newer = `${body} `;
  all.registry.manifests.set('team/disk:12', { type, body: newer });
  assert.equal((await all.pull()).digest, digestOf(Buffer.from(newer)));
  assert.equal(openImageStore(all.store).resolve(`${all.registry.host}/team/disk@${all.digest}`)?.digest, all.digest);
});

const sleepless = { now: () => Date.now(), steady: () => performance.now(), sleep: async () => {} };

test('a registry that answers 500 is asked again, and given up with its words when it goes on like that', async (t) => {
  const all = await world(t, { failuresLeft: 2 });
  assert.equal((await all.pull({ clock: sleepless })).digest, all.digest);
  const broken = await world(t, { failuresLeft: 1_000 });
  await assert.rejects(broken.pull({ clock: sleepless }), /500|try later/);
  assert.equal(fetches(broken.registry, broken.layer) <= 4, true);
  assert.equal(openImageStore(broken.store).resolve(broken.reference), undefined);
});

test('a registry that sends a byte at a time keeps nobody who ends it, and what came is not asked for again', async (t) => {
  const all = await world(t, { comesInBytes: true });
  const stop = new AbortController();
  const slow = all.pull({
    signal: stop.signal,
    onProgress: ({ doneBytes }) => {
      if (doneBytes > 2_000) stop.abort(new Error('enough'));
    },
  });
  await assert.rejects(slow, /enough/);
  assert.equal(openImageStore(all.store).resolve(all.reference), undefined);
  assert.equal(leftovers(all.store).length > 0, true);
});
