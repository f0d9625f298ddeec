import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { foldersToShare, parseMount } from './mounts.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'mounts-')));
after(() => rmSync(base, { recursive: true }));
for (const name of ['home', 'home/keys', 'work', 'open', 'open/inside']) mkdirSync(join(base, name));
symlinkSync('work', join(base, 'link'));
chmodSync(join(base, 'open'), 0o777);
const share = (...texts: string[]) => foldersToShare(texts, { workingFolder: base, home: join(base, 'home') });

test('a folder, its place and whether the guest may write', () => {
  assert.deepEqual(['.:/work', 'a:b:/work/in.side:ro', '/x:/y:rw'].map(parseMount), [
    { folder: '.', place: '/work', isReadOnly: false },
    { folder: 'a:b', place: '/work/in.side', isReadOnly: true },
    { folder: '/x', place: '/y', isReadOnly: false },
  ]);
});

test('what says less, or could be more than a path in a command of the guest, is refused', () => {
  for (const text of ['.', ':/x', '.:', '.:x', '.:/', '.:/a b', ".:/a'", '.:/$(x)', '.:/a/../b', '.:/a:rx', '.:/a:ro:', '.:/-a'])
    assert.throws(() => parseMount(text), { code: 'USAGE', exitCode: 2 }, text);
  assert.throws(() => share('work:/a', 'link:/a'), { code: 'USAGE' });
  assert.throws(() => share(...Array.from({ length: 9 }, (_, index) => `work:/${index}`)), { code: 'USAGE' });
});

test('the folder that links lead to is shared, under a name of its own', () => {
  assert.deepEqual(share('link:/a', 'work:/b:ro'), [
    { tag: 'mount0', path: join(base, 'work'), place: '/a', isReadOnly: false },
    { tag: 'mount1', path: join(base, 'work'), place: '/b', isReadOnly: true },
  ]);
});

test('keys of the cluster, folders of others and folders that others may exchange are not shared', () => {
  assert.throws(() => share('nowhere:/a'), { code: 'FILE_MISSING' });
  for (const folder of ['home', 'home/keys', '.']) assert.throws(() => share(`${folder}:/a`), { code: 'FOLDER_NOT_SHAREABLE' }, folder);
  assert.throws(() => share('open/inside:/a'), { code: 'FOLDER_NOT_YOURS', why: /others may change .*open/ });
  assert.throws(() => foldersToShare(['/:/a'], { workingFolder: '/', home: base }), { exitCode: 4 });
});
