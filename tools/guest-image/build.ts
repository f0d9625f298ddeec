/**
 * Builds a guest (`tiny` when none is named) as a containerDisk `localhost/guests/NAME`: an OCI layout in the cache folder, made from
 * Debian's kernel and busybox, or (`debian`) an installed Debian. Prints the folder. The result is kept by a hash of everything that goes into it from here, so a second run
 * does nothing.
 *
 *   node tools/guest-image/build.ts tiny32 [--push http://10.250.0.1:5000/kubevirt/cirros-container-disk-demo:latest]...
 *
 * Pushed to any registry, `https://…` as well; logins are those of podman and docker (src/images/registry-login.ts).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { UserError } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { readIndex } from '../../src/images/layout.ts';
import { pushImage } from '../../src/images/push.ts';
import { findLogin } from '../../src/images/registry-login.ts';
import { writeImage } from '../../src/images/write-image.ts';
import { buildDebianDisk } from './debian.ts';
import { writeBootDisk } from './disk.ts';
import { DISK_TOOLS, GUESTS, type Guest } from './guests.ts';
import { buildInitramfs } from './initramfs.ts';
import { unpackPackages } from './packages.ts';

const here = import.meta.dirname;
const DEBIAN = 'debian';
const OVERLAY = 'root-debian';
/** Sources of the one that takes minutes to build, and of the others alone. */
const ONLY_DEBIAN = /^(?:root-debian\/|(?:debian|mmdebstrap)\.ts$)/;
const ONLY_SMALL = /^(?:root(?:-(?!debian)[^/]*)?\/|(?:cpio|elf|initramfs|programs)\.ts$)/;

try {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { push: { type: 'string', multiple: true, default: [] } } });
  const dir = await ensureGuestImage(positionals[0] ?? 'tiny');
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

async function ensureGuestImage(name: string): Promise<string> {
  const guests = join(cacheFolder(), 'guests');
  const build = builderOf(name);
  const layout = join(guests, `${name}-${hashOfSources(name).slice(0, 16)}`);
  if (existsSync(layout)) return layout;
  mkdirSync(guests, { recursive: true });
  const workDir = mkdtempSync(join(guests, 'build-'));
  try {
    const disk = build(workDir);
    const made = join(workDir, 'layout');
    const files = [{ path: disk, name: `disk/${basename(disk)}` }];
    await writeImage({ dir: made, reference: `localhost/guests/${name}:latest`, files });
    renameSync(made, layout);
  } catch (error) {
    if (!existsSync(layout)) throw error; // somebody else was quicker
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return layout;
}

/** What makes the disk of a guest in a folder, and returns its path. */
function builderOf(name: string): (workDir: string) => string {
  if (name === DEBIAN) return (workDir) => buildDebianDisk({ workDir, overlay: join(here, OVERLAY) });
  const guest = GUESTS.find((each) => each.name === name);
  if (guest) return (workDir) => buildSmallDisk(guest, workDir);
  const names = [...GUESTS.map((each) => each.name), DEBIAN].join(', ');
  throw new UserError('USAGE', `there is no guest ${JSON.stringify(name)}`, { fix: `take one of ${names}`, exitCode: 2 });
}

function buildSmallDisk({ packages, architecture, drivers, programs, overlays = [] }: Guest, workDir: string): string {
  const packagesDir = join(workDir, 'packages');
  unpackPackages({ names: [...packages, ...DISK_TOOLS], architecture, workDir, into: packagesDir });
  const applets = execFileSync(join(packagesDir, 'bin/busybox'), ['--list'], { encoding: 'utf8' }).trim().split('\n');
  const kernel = readdirSync(join(packagesDir, 'boot')).find((name) => name.startsWith('vmlinuz-'));
  if (!kernel) throw new Error('the kernel package has no /boot/vmlinuz-*');
  const rootDirs = ['root', ...overlays].map((folder) => join(here, folder));
  const initramfs = join(workDir, 'initrd.img');
  writeFileSync(initramfs, buildInitramfs({ packagesDir, rootDirs, applets, drivers, programs, architecture }));
  const disk = join(workDir, 'disk.img');
  writeBootDisk({ packagesDir, kernel: join(packagesDir, 'boot', kernel), initramfs, workDir, disk });
  return disk;
}

/** Changes when anything in this folder does that the guest is made of. Package updates do not: remove the cache folder to take them up. */
function hashOfSources(name: string): string {
  const hash = createHash('sha256');
  for (const path of readdirSync(here, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = join(here, path);
    const isOthers = name === DEBIAN ? ONLY_SMALL.test(path) : ONLY_DEBIAN.test(path);
    if (!isOthers && statSync(file).isFile()) hash.update(`${path}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}
