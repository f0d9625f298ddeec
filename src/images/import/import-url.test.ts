import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { openDownloadCache } from './download-cache.ts';
import { startFileServer } from './file-server.testing.ts';
import { importUrl, type UrlSource } from './import-url.ts';

const RAW = Buffer.alloc(4096, 'disk');
const SHA256 = createHash('sha256').update(RAW).digest('hex');

async function world(t: TestContext) {
  const server = await startFileServer(t, RAW);
  const dir = mkdtempSync(join(tmpdir(), 'import-url-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const notes: string[] = [];
  const bring = (source: Omit<UrlSource, 'url'> = {}, lastKnown?: string) =>
    importUrl({
      source: { url: `${server.origin}/disk.img`, ...source },
      downloads: openDownloadCache({ cache: dir, clock: systemClock, maxBytes: 2 ** 30 }),
      nameFor: (digest) => `localhost/imported/disk:${digest.slice(7, 19)}`,
      storeDir: join(dir, 'store'),
      compression: 'zstd',
      searchPath: process.env['PATH'],
      signal: new AbortController().signal,
      onNote: (note) => notes.push(note),
      lastKnown: () => lastKnown,
    });
  return { server, bring, notes };
}

test('a disk is checked by the list of its publisher, and then found by its digest without a download', async (t) => {
  const { server, bring, notes } = await world(t);
  server.pages.set('/SUMS', (_, response) => response.end(`${SHA256} *disk.img\n`));
  const reference = `localhost/imported/disk:${SHA256.slice(0, 12)}`;
  assert.deepEqual(await bring({ checksums: `${server.origin}/SUMS` }), { reference, isNew: true });
  assert.deepEqual(await bring({ checksums: `${server.origin}/SUMS` }), { reference, isNew: false });
  assert.deepEqual([server.requests, notes], [['/SUMS', '/disk.img', '/SUMS'], []]);
});

test('what nobody vouches for is taken, and that is said', async (t) => {
  const { bring, notes } = await world(t);
  assert.equal((await bring()).isNew, true);
  assert.equal((await bring()).isNew, false);
  assert.match(notes.join(), /it is not checked/);
});

test('a list that cannot be had, or is of other files, stops it: nothing is taken unchecked by mistake', async (t) => {
  const { server, bring } = await world(t);
  server.pages.set('/404', (_, response) => response.writeHead(404).end());
  server.pages.set('/other', (_, response) => response.end(`${SHA256}  other.img\n`));
  await assert.rejects(bring({ checksums: `${server.origin}/404` }), { code: 'CHECKSUMS_UNREACHABLE', exitCode: 8 });
  await assert.rejects(bring({ checksums: `${server.origin}/other` }), { code: 'CHECKSUM_MISSING' });
  assert.ok(!server.requests.includes('/disk.img'));
});

test('where nobody can be asked, the last one that was brought in is used, and that is said; wrong bytes are never worked around', async (t) => {
  const { server, bring, notes } = await world(t);
  server.pages.set('/SUMS', (_, response) => response.writeHead(503).end());
  const reference = 'localhost/imported/disk:before';
  assert.deepEqual(await bring({ checksums: `${server.origin}/SUMS` }, reference), { reference, isNew: false });
  assert.match(notes.join(), /out of reach, the last one .* the server answered 503/);
  await assert.rejects(bring({ digest: `sha256:${'0'.repeat(64)}` }, reference), { code: 'DIGEST_MISMATCH' });
});
