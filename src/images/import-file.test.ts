import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pack } from 'tar-stream';
import { importImage } from './import-file.ts';
import { qcow2Start } from './qcow2-header.testing.ts';
import { openImageStore } from './store.ts';
import { writeImage } from './write-image.ts';

async function scratch(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'import-'));
  t.after(() => rm(dir, { recursive: true }));
  const storeDir = join(dir, 'store');
  const store = openImageStore(storeDir);
  const content = async (name: string, file: string) => readFile(join(await store.unpacked(name), file));
  return { dir, storeDir, store, content, bring: (path: string, reference: string) => importImage({ storeDir, path, reference }) };
}

/** A tar archive with these files. */
async function archive(path: string, files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const tar = pack();
  for (const [name, data] of Object.entries(files)) tar.entry({ name }, data);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  await writeFile(path, Buffer.concat(chunks));
  return path;
}

test('a raw disk and a qcow2 disk become images', async (t) => {
  const { dir, bring, content } = await scratch(t);
  await writeFile(join(dir, 'raw'), Buffer.alloc(1024, 1));
  await writeFile(join(dir, 'qcow2'), qcow2Start());
  await bring(join(dir, 'raw'), 'localhost/a');
  await bring(join(dir, 'qcow2'), 'localhost/b:1');
  assert.deepEqual(await content('localhost/a:latest', 'disk/disk.img'), Buffer.alloc(1024, 1));
  assert.deepEqual(await content('localhost/b:1', 'disk/disk.qcow2'), qcow2Start());
});

test('an OCI layout comes as a folder, as an archive and as a compressed one', async (t) => {
  const { dir, bring, store, content, storeDir } = await scratch(t);
  await writeFile(join(dir, 'disk'), Buffer.alloc(512, 2));
  const layout = join(dir, 'layout');
  const { digest } = await writeImage({
    dir: layout,
    reference: 'localhost/x',
    files: [{ path: join(dir, 'disk'), name: 'disk/disk.img' }],
  });
  await rm(join(layout, '.lock'), { force: true });
  execFileSync('tar', ['-cf', join(dir, 'l.tar'), '-C', layout, '.']);
  execFileSync('tar', ['-czf', join(dir, 'l.tgz'), '-C', layout, '.']);
  for (const [index, source] of ['layout', 'l.tar', 'l.tgz'].entries()) {
    assert.deepEqual(await bring(join(dir, source), `localhost/x${index}`), { digest });
    assert.deepEqual(await content(`localhost/x${index}`, 'disk/disk.img'), Buffer.alloc(512, 2));
  }
  assert.equal((await store.list()).length, 3);
  assert.deepEqual(
    (await readdir(storeDir)).filter((name) => name.startsWith('.import')),
    [],
  );
});

test('what docker save writes is understood', async (t) => {
  const { dir, bring, content } = await scratch(t);
  const layer = await readFile(await archive(join(dir, 'layer'), { 'disk/disk.img': 'hello' }));
  const diffId = `sha256:${createHash('sha256').update(layer).digest('hex')}`;
  const config = JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: [diffId] } });
  const manifest = JSON.stringify([{ Config: 'abc.json', RepoTags: ['demo:v1'], Layers: ['def/layer.tar'] }]);
  const path = await archive(join(dir, 'saved.tar'), { 'manifest.json': manifest, 'abc.json': config, 'def/layer.tar': layer });
  await bring(path, 'quay.io/team/disk:v1');
  assert.equal((await content('quay.io/team/disk:v1', 'disk/disk.img')).toString(), 'hello');
});

test('what is no image is refused, with a way out', async (t) => {
  const { dir, bring, storeDir } = await scratch(t);
  await writeFile(join(dir, 'note.txt'), 'hello');
  await mkdir(join(dir, 'folder'));
  await assert.rejects(bring(join(dir, 'absent'), 'localhost/a'), { code: 'FILE_MISSING', exitCode: 3 });
  await assert.rejects(bring(join(dir, 'note.txt'), 'localhost/a'), { code: 'NOT_A_DISK' });
  await assert.rejects(bring(join(dir, 'folder'), 'localhost/a'), { code: 'IMAGE_LAYOUT_INVALID' });
  await assert.rejects(bring(await archive(join(dir, 'a.tar'), { file: 'x' }), 'localhost/a'), { code: 'NOT_AN_IMAGE' });
  await assert.rejects(bring(await archive(join(dir, 'b.tar'), { '../../up': 'x' }), 'localhost/a'), { code: 'ARCHIVE_REFUSED' });
  const stray = JSON.stringify([{ Config: '../../../etc/hostname', Layers: [] }]);
  await assert.rejects(bring(await archive(join(dir, 'c.tar'), { 'manifest.json': stray }), 'localhost/a'), { code: 'ARCHIVE_REFUSED' });
  assert.deepEqual(
    (await readdir(storeDir)).filter((name) => name.startsWith('.import')),
    [],
  );
});
