import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { startFileServer } from '../../images/import/file-server.testing.ts';
import { TestRegistry } from '../../images/registry.testing.ts';
import { openImageStore } from '../../images/store.ts';
import { run as push } from '../commands/image/push/run.ts';
import { testDeps } from '../deps.testing.ts';
import { createProgress } from '../progress.ts';
import { obtainImage } from './obtain-image.ts';
import type { ResolvedImage } from './resolve-image.ts';

function world(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'obtain-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stderr } = testDeps({}, { home, cache: join(home, 'cache'), clock: systemClock, env: { DOCKER_CONFIG: home } });
  const progress = createProgress(deps.stderr, systemClock, {});
  const obtain = (source: ResolvedImage['source'], storeName = '') =>
    obtainImage(deps, { image: { source, storeName, stem: 'x' }, progress, signal: new AbortController().signal, cacheBytes: 2 ** 30 });
  return { home, deps, stderr, obtain, store: () => openImageStore(join(home, 'images')) };
}

test('an image of a registry is pulled, once; one of this machine is taken as it is', async (t) => {
  const { home, deps, stderr, obtain, store } = world(t);
  await using registry = await TestRegistry.start();
  writeFileSync(join(home, 'disk.raw'), Buffer.alloc(2 ** 20, 'disk'));
  const reference = `${registry.host}/team/disk:1`;
  await push(deps, { plainHttp: true }, join(home, 'disk.raw'), reference);
  assert.equal(await obtain({ is: 'image', reference }), reference);
  assert.equal(store().resolve(reference)?.isPulled, true);
  await obtain({ is: 'image', reference });
  await obtain({ is: 'image', reference: 'localhost/guests/tiny' });
  assert.equal(stderr().match(/✓ image/g)?.length, 1);
  await assert.rejects(obtain({ is: 'image', reference: `${registry.host}/team/nothing:1` }), { code: 'IMAGE_MISSING', exitCode: 3 });
});

test('a published image that another one stands in for is left to the cluster', async (t) => {
  const { obtain, stderr } = world(t);
  const reference = 'kubevirt/cirros-container-disk-demo';
  assert.deepEqual([await obtain({ is: 'image', reference }), stderr()], [reference, '']);
});

test('a publisher that is out of reach later is done without: the last disk of that name is used, and that is said', async (t) => {
  const { obtain, stderr } = world(t);
  const server = await startFileServer(t, Buffer.alloc(1024, 'one'));
  const source = { is: 'url', at: { url: `${server.origin}/web.img`, checksums: `${server.origin}/web.img.sha256` } } as const;
  const list = (hex: string) => server.pages.set('/web.img.sha256', (_, response) => response.end(hex));
  list(createHash('sha256').update(server.content).digest('hex'));
  const first = await obtain(source, 'catalogue/web:2-');
  Object.assign(server, { content: Buffer.alloc(1024, 'two'), etag: '"two"' });
  list(createHash('sha256').update(server.content).digest('hex'));
  const second = await obtain(source, 'catalogue/web:2-');
  assert.notEqual(first, second);
  server.pages.set('/web.img.sha256', (_, response) => response.writeHead(503).end());
  assert.equal(await obtain(source, 'catalogue/web:2-'), second);
  assert.match(stderr(), /! image +localhost\/catalogue\/web:2-\w{20}; its publisher is out of reach/);
  await assert.rejects(obtain(source, 'catalogue/web:3-'), { code: 'CHECKSUMS_UNREACHABLE' });
});
