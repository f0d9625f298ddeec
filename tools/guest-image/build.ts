/**
 * Builds the demo guest `localhost/guests/tiny` as a containerDisk: an OCI layout in the cache folder, made from Debian's kernel
 * and busybox. Prints the folder. The result is kept by a hash of everything that goes into it from here, so a second run does nothing.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { writeImage } from '../../src/images/write-image.ts';
import { writeBootDisk } from './disk.ts';
import { buildInitramfs } from './initramfs.ts';
import { unpackPackages } from './packages.ts';

const REFERENCE = 'localhost/guests/tiny:latest';
const PACKAGES = ['linux-image-cloud-amd64', 'busybox-static', 'syslinux', 'syslinux-common', 'mtools', 'dosfstools'];
const here = import.meta.dirname;

try {
  console.log(await ensureGuestImage());
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(
    [`error[${error.code}]: ${error.message}`, error.why && `why: ${error.why}`, error.fix && `fix: ${error.fix}`]
      .filter(Boolean)
      .join('\n'),
  );
  process.exitCode = error.exitCode;
}

async function ensureGuestImage(): Promise<string> {
  const guests = join(cacheFolder(), 'guests');
  const layout = join(guests, `tiny-${hashOfSources().slice(0, 16)}`);
  if (existsSync(layout)) return layout;
  mkdirSync(guests, { recursive: true });
  const workDir = mkdtempSync(join(guests, 'build-'));
  try {
    renameSync(await build(workDir), layout);
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return layout;
}

async function build(workDir: string): Promise<string> {
  const packagesDir = join(workDir, 'packages');
  unpackPackages({ names: PACKAGES, workDir, into: packagesDir });
  const applets = execFileSync(join(packagesDir, 'bin/busybox'), ['--list'], { encoding: 'utf8' }).trim().split('\n');
  const kernel = readdirSync(join(packagesDir, 'boot')).find((name) => name.startsWith('vmlinuz-'));
  if (!kernel) throw new Error('the kernel package has no /boot/vmlinuz-*');
  const initramfs = buildInitramfs({ packagesDir, rootDir: join(here, 'root'), applets });
  const disk = join(workDir, 'disk.img');
  writeBootDisk({ packagesDir, kernel: join(packagesDir, 'boot', kernel), initramfs, workDir, disk });
  const layout = join(workDir, 'layout');
  await writeImage({ dir: layout, reference: REFERENCE, files: [{ path: disk, name: 'disk/disk.img' }] });
  return layout;
}

/** Changes when anything in this folder does. Package updates do not: remove the cache folder to take them up. */
function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const path of readdirSync(here, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = join(here, path);
    if (statSync(file).isFile()) hash.update(`${path}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}
