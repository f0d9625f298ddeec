/** Real disks, raw and qcow2, behind real requests. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '../../base/clock.ts';
import { vm } from '../../testing/builders.ts';
import { answerExport } from './answer-export.ts';
import { openExportedDisk } from './open-disk.ts';

const MIB = 2 ** 20;
const bytes = Buffer.concat([Buffer.alloc(MIB + 512, 'begin'), Buffer.alloc(2 * MIB - 512), Buffer.alloc(MIB, 'end')]);
const { metadata, spec } = vm('Halted');
const task = {
  exportName: 'out',
  volumes: [{ name: 'disk' }],
  serverNames: [],
  machine: { metadata: { name: metadata.name }, spec },
  bases: { internal: { url: 'https://x', cert: 'PEM' } },
};

async function served(t: TestContext, format: 'raw' | 'qcow2') {
  const folder = mkdtempSync(join(tmpdir(), 'export-'));
  const before = process.cwd();
  process.chdir(folder); // where sockets are
  t.after(() => rmSync(folder, { recursive: true }));
  t.after(() => process.chdir(before));
  writeFileSync('raw', bytes);
  execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', format, 'raw', 'disk.img']);
  const { signal } = new AbortController();
  const disk = await openExportedDisk({
    folder,
    format,
    socketPath: 'nbd.sock',
    searchPath: process.env['PATH'],
    clock: systemClock,
    signal,
  });
  t.after(() => disk.close());
  const ask = async (path: string, headers: Record<string, string> = { 'x-kubevirt-export-token': 'secret' }) => {
    const answer = await answerExport(new Request(`https://x${path}`, { headers }), {
      task,
      volumes: new Map([['disk', disk]]),
      token: 'secret',
    });
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  };
  return { ask, folder };
}

const withToken = (more: Record<string, string>) => ({ 'x-kubevirt-export-token': 'secret', ...more });

for (const format of ['raw', 'qcow2'] as const)
  test(`a ${format} disk is served whole, in parts, compressed and in pieces`, async (t) => {
    const { ask } = await served(t, format);
    const whole = await ask('/volumes/disk/disk.img');
    assert.equal(whole.headers.get('content-length'), String(bytes.length));
    assert.ok(whole.body.equals(bytes));
    const part = await ask('/volumes/disk/disk.img', withToken({ range: `bytes=${MIB}-${MIB + 1023}` }));
    assert.deepEqual([part.status, part.headers.get('content-range')], [206, `bytes ${MIB}-${MIB + 1023}/${bytes.length}`]);
    assert.ok(part.body.equals(bytes.subarray(MIB, MIB + 1024)));
    assert.ok(gunzipSync((await ask('/volumes/disk/disk.img.gz')).body).equals(bytes));
    const pieces = [
      await ask(`/volumes/disk/piece?from=0&bytes=${3 * MIB}`),
      await ask(`/volumes/disk/piece?from=${3 * MIB}&bytes=${3 * MIB}`),
    ];
    assert.ok(gunzipSync(Buffer.concat(pieces.map(({ body }) => body))).equals(bytes), 'one after the other they are the whole');
    assert.equal((await ask('/volumes/disk/disk.img', withToken({ range: 'bytes=99999999-' }))).status, 416);
  });

test('without the token there is nothing, and beside the disk there is nothing', async (t) => {
  const { ask } = await served(t, 'raw');
  for (const headers of [{}, { 'x-kubevirt-export-token': '' }, { 'x-kubevirt-export-token': 'secret2' }])
    for (const path of ['/volumes/disk/disk.img', '/internal/manifests/secret', '/'])
      await assert.rejects(ask(path, headers as Record<string, string>), { reason: 'Unauthorized' });
  for (const path of [
    '/',
    '/volumes/other/disk.img',
    '/volumes/disk/disk.img/x',
    '/volumes/disk/../disk',
    '/external/manifests/all',
    '/volumes/%E0%A4%A/disk.img',
  ])
    await assert.rejects(ask(path), /nothing there|not valid/, path);
});

test('a disk that was written to is another one', async (t) => {
  const { ask, folder } = await served(t, 'raw');
  const etag = (await ask('/volumes/disk/piece?from=0&bytes=1')).headers.get('etag') ?? '';
  assert.equal((await ask('/volumes/disk/disk.img', withToken({ 'if-match': etag }))).status, 200);
  utimesSync(join(folder, 'disk.img'), 1, 1);
  await assert.rejects(ask('/volumes/disk/piece?from=1&bytes=1', withToken({ 'if-match': etag })), { reason: 'Conflict' });
  assert.equal((await ask('/volumes/disk/disk.img', withToken({ 'if-match': etag }))).status, 412);
  assert.equal((await ask('/volumes/disk/disk.img', withToken({ 'if-range': etag, range: 'bytes=0-1' }))).status, 200);
});

test('manifests are JSON, or YAML that is', async (t) => {
  const { ask } = await served(t, 'raw');
  const { items } = JSON.parse((await ask('/internal/manifests/all', withToken({ accept: 'application/json' }))).body.toString()) as {
    items: { kind: string }[];
  };
  assert.deepEqual(
    items.map(({ kind }) => kind),
    ['ConfigMap', 'VirtualMachine', 'DataVolume'],
  );
  assert.match((await ask('/internal/manifests/secret')).body.toString(), /"token": "x-kubevirt-export-token:secret"/);
});
