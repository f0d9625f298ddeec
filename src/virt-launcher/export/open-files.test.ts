/** Real files behind real requests, and a real tar that unpacks them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { answerExport } from './answer-export.ts';
import type { VolumeFile } from './list-files.ts';
import { openFiles } from './open-files.ts';
import { tarHeaderOf } from './tar-entry.ts';

const MIB = 2 ** 20;
const LONG = `${'long-'.repeat(30)}ü/${'n'.repeat(200)}`;
const DUMP = randomBytes(3 * MIB + 17);

function served(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const volume = join(folder, 'volume');
  mkdirSync(join(volume, LONG, '..'), { recursive: true });
  writeFileSync(join(volume, 'db.memory.dump'), DUMP, { mode: 0o640 });
  writeFileSync(join(volume, 'empty'), '');
  writeFileSync(join(volume, LONG), 'far away');
  symlinkSync(LONG, join(volume, 'near'));
  const opened = openFiles(volume) ?? assert.fail();
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const request = new Request(`https://x/volumes/data/${path}`, { headers: { 'x-kubevirt-export-token': 'secret', ...headers } });
    const task = { exportName: 'out', volumes: [], serverNames: [], bases: {} };
    const answer = await answerExport(request, { task, volumes: new Map([['data', opened]]), token: 'secret' });
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  };
  return { folder, volume, opened, ask };
}

test('a tar unpacks what was on the volume, and pieces of any size are the same archive', async (t) => {
  const { folder, opened, ask } = served(t);
  const whole = gunzipSync((await ask('disk.tar.gz')).body);
  assert.equal(whole.length, opened.sizeBytes);
  for (const bytes of [100_003, MIB]) {
    const pieces: Buffer[] = [];
    for (let from = 0; from < whole.length; from += bytes) pieces.push(gunzipSync((await ask(`piece?from=${from}&bytes=${bytes}`)).body));
    assert.ok(Buffer.concat(pieces).equals(whole), `pieces of ${bytes}`);
  }
  const into = join(folder, 'unpacked');
  mkdirSync(into);
  execFileSync('tar', ['-xf', '-', '-C', into], { input: whole });
  assert.ok(readFileSync(join(into, 'db.memory.dump')).equals(DUMP));
  assert.equal(readFileSync(join(into, 'near'), 'utf8'), 'far away');
  assert.equal(readlinkSync(join(into, 'near')), LONG);
  assert.equal(readFileSync(join(into, 'empty'), 'utf8'), '');
  assert.match(execFileSync('tar', ['-tvf', '-'], { input: whole, encoding: 'utf8' }), /^-rw-r-----.* db\.memory\.dump$/m);
});

test('folders are pages of links, files have parts, and neither a link nor a place outside is opened', async (t) => {
  const { ask } = served(t);
  assert.match((await ask('dir/')).body.toString(), /<a href="db\.memory\.dump">db\.memory\.dump<\/a>\n<a href="empty">/);
  const redirected = await ask('dir');
  assert.deepEqual([redirected.status, redirected.headers.get('location')], [301, 'dir/']);
  const path = LONG.split('/').map(encodeURIComponent).join('/');
  assert.equal((await ask(`dir/${path}`)).body.toString(), 'far away');
  assert.equal((await ask(path.replace(/^(.*)\/.*$/, 'dir/$1'))).status, 301);
  const part = await ask('dir/db.memory.dump', { range: 'bytes=10-19' });
  assert.deepEqual([part.status, part.body], [206, DUMP.subarray(10, 20)]);
  for (const wrong of ['dir/near', 'dir/empty/', 'dir/%2e%2e/x', 'dir//etc/passwd', 'disk.img', 'disk.img.gz', 'dir/../../x'])
    await assert.rejects(ask(wrong), { reason: 'NotFound' }, wrong);
});

test('what was written to since is noticed', async (t) => {
  const { volume, opened, ask } = served(t);
  const before = opened.etag();
  assert.equal(openFiles(volume)?.etag(), before, 'another Pod goes on with it');
  truncateSync(join(volume, 'db.memory.dump'), 5);
  await assert.rejects(ask('disk.tar.gz'), /while the volume was read|terminated/);
  assert.notEqual(openFiles(volume)?.etag(), before);
  await assert.rejects(ask('piece?from=0&bytes=1', { 'if-match': '"other"' }), { reason: 'Conflict' });
});

test('an empty volume has nothing, also when an importer was there', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, '.import'));
  assert.equal(openFiles(folder), undefined);
});

test('what does not fit into a plain header stands before it', () => {
  const entry: VolumeFile = {
    path: 'a',
    type: 'file',
    mode: 0o644,
    userId: 107,
    groupId: 3_000_000_000,
    modifiedSeconds: -5,
    sizeBytes: 2 ** 40,
    stamp: '',
  };
  const header = tarHeaderOf(entry);
  assert.equal(header.length, 3 * 512);
  assert.equal(header.subarray(512, 1024).toString().replaceAll('\0', ''), '22 size=1099511627776\n18 gid=3000000000\n12 mtime=-5\n');
  assert.equal(tarHeaderOf({ ...entry, sizeBytes: 8 ** 11 - 1, groupId: 107, modifiedSeconds: 5 }).length, 512);
});
