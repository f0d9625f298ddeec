import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { prepareHome } from './prepare-home.ts';

const isRoot = process.getuid?.() === 0;
let home: string;
beforeEach((t) => {
  home = mkdtempSync(join(tmpdir(), 'home-'));
  if ('after' in t) t.after(() => rmSync(home, { recursive: true }));
});

for (const mode of [0o777, 0o1777, 0o775, 0o702]) {
  test(`a data folder of mode ${mode.toString(8)}, in which others can write, is refused and left as it is`, () => {
    chmodSync(home, mode);
    assert.throws(() => prepareHome(home), { code: 'HOME_UNSAFE' });
    assert.equal(statSync(home).mode & 0o7777, mode);
  });
}

test('a data folder of somebody else is refused', { skip: !isRoot && 'only root can give a folder away' }, () => {
  chownSync(home, 1234, 1234);
  assert.throws(() => prepareHome(home), { code: 'HOME_UNSAFE' });
});

test('others neither list nor write the data folder, and reach neither sockets nor logs', () => {
  chmodSync(home, 0o755);
  prepareHome(home);
  const modeOf = (folder: string) => (statSync(join(home, folder)).mode & 0o777).toString(8);
  assert.deepEqual(['.', 'run', 'logs', 'kubelet', 'images', 'volumes'].map(modeOf), ['711', '700', '700', '711', '700', '711']);
});
