/**
 * Builds a guest (`tiny` when none is named) as a containerDisk `localhost/guests/NAME`: an OCI layout in the cache folder, made from
 * Debian's kernel and busybox. Prints the folder. The result is kept by a hash of everything that goes into it from here, so a second run
 * does nothing.
 *
 *   node tools/guest-image/build.ts tiny32 [--push http://10.250.0.1:5000/kubevirt/cirros-container-disk-demo:latest]...
 *
 * Pushed to any registry, `https://…` as well; logins are those of podman and docker (src/images/registry-login.ts).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { UserError } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { readIndex } from '../../src/images/layout.ts';
import { pushImage } from '../../src/images/push.ts';
import { findLogin } from '../../src/images/registry-login.ts';
import { writeImage } from '../../src/images/write-image.ts';
import { writeBootDisk } from './disk.ts';
import { DISK_TOOLS, GUESTS, type Guest } from './guests.ts';
import { buildInitramfs } from './initramfs.ts';
import { unpackPackages } from './packages.ts';

const here = import.meta.dirname;

try {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { push: { type: 'string', multiple: true, default: [] } } });
  const dir = await ensureGuestImage(guestNamed(positionals[0] ?? 'tiny'));
  for (const target of values.push) await push(dir, target);
  console.log(dir);
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(
    [`error[${error.code}]: ${error.message}`, error.why && `why: ${error.why}`, error.fix && `fix: ${error.fix}`]
      .filter(Boolean)
      .join('\n'),
  );
  process.exitCode = error.exitCode;
}

function guestNamed(name: string): Guest {
  const found = GUESTS.find((guest) => guest.name === name);
  if (found) return found;
  const names = GUESTS.map((guest) => guest.name).join(', ');
  throw new UserError('USAGE', `there is no guest ${JSON.stringify(name)}`, { fix: `take one of ${names}`, exitCode: 2 });
}

/** To a registry, under the name that the rest of the address says. */
async function push(dir: string, target: string): Promise<void> {
  const {
    registry = '',
    repository = '',
    tag = '',
  } = /^(?<registry>https?:\/\/[^/]+)\/(?<repository>.+):(?<tag>[^:/]+)$/.exec(target)?.groups ?? {};
  if (!tag || !URL.canParse(registry))
    throw new UserError('USAGE', `${target} is no place for an image`, { fix: 'http://REGISTRY/NAME:TAG', exitCode: 2 });
  const login = findLogin(registry, process.env);
  for (const descriptor of readIndex(dir)) await pushImage({ dir, descriptor, registry, repository, tag, login });
}

async function ensureGuestImage(guest: Guest): Promise<string> {
  const guests = join(cacheFolder(), 'guests');
  const layout = join(guests, `${guest.name}-${hashOfSources().slice(0, 16)}`);
  if (existsSync(layout)) return layout;
  mkdirSync(guests, { recursive: true });
  const workDir = mkdtempSync(join(guests, 'build-'));
  try {
    renameSync(await build(guest, workDir), layout);
  } catch (error) {
    if (!existsSync(layout)) throw error; // somebody else was quicker
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return layout;
}

async function build({ name, packages, architecture, drivers, programs, overlays = [] }: Guest, workDir: string): Promise<string> {
  const packagesDir = join(workDir, 'packages');
  unpackPackages({ names: [...packages, ...DISK_TOOLS], architecture, workDir, into: packagesDir });
  const applets = execFileSync(join(packagesDir, 'bin/busybox'), ['--list'], { encoding: 'utf8' }).trim().split('\n');
  const kernel = readdirSync(join(packagesDir, 'boot')).find((name) => name.startsWith('vmlinuz-'));
  if (!kernel) throw new Error('the kernel package has no /boot/vmlinuz-*');
  const rootDirs = ['root', ...overlays].map((folder) => join(here, folder));
  const initramfs = buildInitramfs({ packagesDir, rootDirs, applets, drivers, programs });
  const disk = join(workDir, 'disk.img');
  writeBootDisk({ packagesDir, kernel: join(packagesDir, 'boot', kernel), initramfs, workDir, disk });
  const layout = join(workDir, 'layout');
  await writeImage({ dir: layout, reference: `localhost/guests/${name}:latest`, files: [{ path: disk, name: 'disk/disk.img' }] });
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
