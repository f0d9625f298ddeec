import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listFiles } from './list-files.ts';

function volume(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  writeFileSync(join(folder, 'a/file'), 'text');
  return folder;
}

test('files, folders and links of the volume are its content, and nothing of file systems and importers', (t) => {
  const folder = volume(t);
  for (const name of ['lost+found', '.import']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, '.import/partial'), 'half');
  symlinkSync('../file', join(folder, 'a/b/up'));
  symlinkSync('./a/b/up', join(folder, 'down'));
  symlinkSync('nowhere', join(folder, 'broken'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  assert.deepEqual(
    listFiles(folder).map(({ path, type, sizeBytes, target }) => [path, type, sizeBytes, target]),
    [
      ['a', 'folder', 0, undefined],
      ['a/b', 'folder', 0, undefined],
      ['a/b/up', 'link', 0, '../file'],
      ['a/file', 'file', 4, undefined],
      ['broken', 'link', 0, 'nowhere'],
      ['down', 'link', 0, './a/b/up'],
    ],
  );
});

for (const target of ['/etc/passwd', '..', '../..', '../../../etc', 'b/../../../x', 'other/..', './../../x'])
  test(`a link to ${target} refuses the volume`, (t) => {
    const folder = volume(t);
    symlinkSync(target, join(folder, 'a/link'));
    if (target === '..') return assert.equal(listFiles(folder).length, 4, 'the volume itself is a place on it');
    assert.throws(() => listFiles(folder), { code: 'FILE_REFUSED', why: 'it is a link that leads out of the volume' });
  });

test('the volume itself may be reached by a link of the kubelet, but no folder in it', (t) => {
  const folder = volume(t);
  const other = join(folder, '../', `link-${process.pid}`);
  symlinkSync(folder, other);
  t.after(() => rmSync(other));
  assert.equal(listFiles(other).length, 3);
});

test('there are bounds: how many, how deep, which names', (t) => {
  const folder = volume(t);
  assert.throws(() => listFiles(folder, { mostFiles: 2, mostDepth: 9 }), { code: 'TOO_MANY_FILES' });
  assert.throws(() => listFiles(folder, { mostFiles: 9, mostDepth: 2 }), { code: 'FILE_REFUSED', why: /more than 2 folders deep/ });
  assert.equal(listFiles(folder, { mostFiles: 3, mostDepth: 3 }).length, 3);
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff])]), '');
  assert.throws(() => listFiles(folder), { code: 'FILE_REFUSED', why: 'its name is not UTF-8' });
});
