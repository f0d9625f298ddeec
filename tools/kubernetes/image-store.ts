/**
 * Images that are on every node from its first moment. They are imported once into a containerd store in the cache folder;
 * a node gets that store as hard links (layers and blobs are never written in place) with databases of its own.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { UserError } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { PAUSE_IMAGE } from './node-files.ts';
import { renameIntoCache } from './rename-into-cache.ts';

/** A shell, for tests and for looking around. */
export const BUSYBOX_IMAGE = 'images.local/busybox:1';

const STORES_KEPT = 3;
/** A cluster that is just starting may be about to copy it. */
const IN_USE_MS = 10 * 60_000;

export type StoreInput = {
  readonly packages: string;
  /** Image archives (docker or OCI), in addition to our own. */
  readonly archives: readonly string[];
};

/** The folder of a store with our own images and these. */
export function ensureImageStore({ packages, archives }: StoreInput): string {
  const parent = join(cacheFolder(), 'kubernetes');
  const hash = createHash('sha256')
    .update(packages)
    .update(readFileSync(import.meta.filename));
  for (const archive of archives) hash.update(readFileSync(archive));
  const folder = join(parent, `images-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) {
    const now = new Date(systemClock.now());
    utimesSync(folder, now, now); // used again, see below
    return folder;
  }
  removeOldStores(parent);
  const workDir = mkdtempSync(join(parent, 'images-unfinished-'));
  try {
    const own = writeBusyboxArchive(workDir, packages);
    importAll({ packages, workDir, archives: [own, ...archives] });
    renameIntoCache(join(workDir, 'store'), folder);
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return folder;
}

/** Every build of an image makes another store, so only a few are kept. Nodes have links of their own to what is in them. */
function removeOldStores(parent: string): void {
  const stores = readdirSync(parent)
    .filter((name) => name.startsWith('images-'))
    .map((name) => ({ path: join(parent, name), usedMs: statSync(join(parent, name)).mtimeMs }))
    .sort((a, b) => b.usedMs - a.usedMs);
  const isOld = ({ usedMs }: { usedMs: number }) => systemClock.now() - usedMs > IN_USE_MS;
  for (const { path } of stores.slice(STORES_KEPT).filter(isOld)) rmSync(path, { recursive: true, force: true });
}

/** A copy for one node. */
export function copyImageStore(store: string, into: string): void {
  execFileSync('cp', ['-al', store, into]);
  for (const database of readdirSync(into, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.db'))) {
    rmSync(join(into, database));
    copyFileSync(join(store, database), join(into, database));
  }
}

/** One image under two names: without a command of its own it only sleeps and reaps, which is all that a Pod's first process does. */
function writeBusyboxArchive(workDir: string, packages: string): string {
  const image = join(workDir, 'image');
  const root = join(workDir, 'root');
  const busybox = join(packages, 'usr/bin/busybox');
  for (const folder of ['bin', 'etc']) mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(root, 'tmp'));
  execFileSync('chmod', ['1777', join(root, 'tmp')]);
  mkdirSync(image);
  copyFileSync(busybox, join(root, 'bin/busybox'));
  for (const applet of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n')) {
    if (applet && applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet));
  }
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\nqemu:x:107:107:qemu:/:/bin/sh\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nqemu:x:107:\n');
  const sameEverywhere = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  execFileSync('tar', [...sameEverywhere, '-cf', join(image, 'layer.tar'), '-C', root, '.']);
  const layer = createHash('sha256')
    .update(readFileSync(join(image, 'layer.tar')))
    .digest('hex');
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Env: ['PATH=/bin'], Cmd: ['/bin/sh', '-c', 'trap "exit 0" TERM INT; while :; do sleep 86400 & wait $!; done'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  };
  writeFileSync(join(image, 'config.json'), JSON.stringify(config));
  const manifest = [{ Config: 'config.json', RepoTags: [PAUSE_IMAGE, BUSYBOX_IMAGE], Layers: ['layer.tar'] }];
  writeFileSync(join(image, 'manifest.json'), JSON.stringify(manifest));
  const archive = join(workDir, 'busybox.tar');
  execFileSync('tar', ['-cf', archive, '-C', image, '.']);
  return archive;
}

/** With a containerd in namespaces of its own, so that nothing of it is left on the machine. */
function importAll({ packages, workDir, archives }: StoreInput & { readonly workDir: string }): void {
  const isolated = ['--mount', '--pid', '--fork', '--ipc', '--mount-proc', '--kill-child'];
  const { status, stderr } = spawnSync(
    'unshare',
    [...isolated, 'bash', join(import.meta.dirname, 'import-images.sh'), workDir, ...archives],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PATH: `${join(packages, 'usr/bin')}:${process.env['PATH']}` },
    },
  );
  if (status === 0) return;
  throw new UserError('IMAGE_REFUSED', 'an image archive cannot be imported', {
    why: stderr.trim().split('\n').at(-1) ?? `the import ended with ${status}`,
    fix: 'give docker or OCI archives whose images have full names, such as registry.example/app:1',
    exitCode: 2,
  });
}
