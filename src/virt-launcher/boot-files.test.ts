import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { copyBootFiles } from './boot-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'boot-files-'));
after(() => rmSync(folder, { recursive: true }));
const root = join(folder, 'image');
const into = join(folder, 'disks');
mkdirSync(join(root, 'boot'), { recursive: true });
mkdirSync(into);
writeFileSync(join(root, 'boot/vmlinuz'), 'kernel');
writeFileSync(join(root, 'boot/initrd'), 'initrd');
symlinkSync('/etc/passwd', join(root, 'boot/link'));

const privileges = { user: undefined, asRoot: <T>(act: () => T) => act(), dropForGood: () => {}, stepUp: () => {} };
function copied(container?: { kernelPath?: string; initrdPath?: string }) {
  const kernelBoot = container && { container: { image: 'x', ...container } };
  const domain = { firmware: { ...(kernelBoot && { kernelBoot }) }, devices: {} };
  return copyBootFiles({ domain, folder: into, root: () => root, privileges, report: () => {} });
}

test('kernel and initrd are copied out of the image', () => {
  const files = copied({ kernelPath: '/boot/vmlinuz', initrdPath: '/boot/initrd' });
  assert.deepEqual(files, { kernel: join(into, 'kernel'), initrd: join(into, 'initrd') });
  assert.deepEqual([readFileSync(join(into, 'kernel'), 'utf8'), readFileSync(join(into, 'initrd'), 'utf8')], ['kernel', 'initrd']);
});

test('a machine without a kernel of its own has no files, and no image is looked for', () => {
  assert.equal(copied(), undefined);
});

test('what an image links to is not taken from outside of it, and what is too large not at all', () => {
  assert.throws(() => copied({ kernelPath: '/boot/link' }), /symbolic link|cannot be used|link/);
  writeFileSync(join(root, 'boot/huge'), '');
  truncateSync(join(root, 'boot/huge'), 2 ** 30);
  assert.throws(() => copied({ kernelPath: '/boot/huge' }), { code: 'KERNEL_TOO_LARGE' });
});
