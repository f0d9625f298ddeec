import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MACHINE_FILE } from '../../api/launcher/suspension.ts';
import { machineIn } from './save-guest.ts';

const DIGEST = 'a'.repeat(64);

function folderOf(t: TestContext): { readonly folder: string; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'save-guest-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, path: join(folder, MACHINE_FILE) };
}

test('the machine of a guest is what its launcher has written beside QEMU', async (t) => {
  const { folder, path } = folderOf(t);
  writeFileSync(path, DIGEST);
  assert.equal(await machineIn(folder), DIGEST);
});

const TRAPS: readonly (readonly [what: string, make: (path: string) => void])[] = [
  ['a pipe, at which whoever opens it waits', (path) => execFileSync('mkfifo', [path])],
  ['a link to a device that never ends', (path) => symlinkSync('/dev/zero', path)],
  ['a link to a file of the host', (path) => symlinkSync('/proc/self/environ', path)],
  [
    'a file of a terabyte',
    (path) => {
      writeFileSync(path, DIGEST);
      truncateSync(path, 2 ** 40);
    },
  ],
];
for (const [what, make] of TRAPS)
  test(`${what} in the place of what a launcher has written is not read: whoever is QEMU's user may put it there`, {
    timeout: 10_000,
  }, async (t) => {
    const { folder, path } = folderOf(t);
    make(path);
    await assert.rejects(machineIn(folder), /restart it once/);
  });
