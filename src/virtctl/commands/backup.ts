/** Backup and restore of the embedded cluster's objects. Disks and images are files of their own and not part of it. */
import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { readWatermark } from '../../base/node/store-watermark.ts';
import { loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { createTlsFetch } from '../../client/node/tls-fetch.ts';
import type { Context } from '../context.ts';
import { kubeconfigPath } from '../embedded/paths.ts';
import { runningState } from '../embedded/state.ts';
import {
  beginHistory,
  copyStore,
  inspectStore,
  removeStore,
  type StoreContent,
  salvageStore,
  setStoreAside,
  storePath,
  syncToDisk,
} from '../embedded/store-file.ts';
import { createProgress } from '../progress.ts';

/** Far more than clients can have seen after the backup was made: no version number is ever given out twice. */
const REVISION_JUMP = 1_000_000;
const MEBIBYTE = 2 ** 20;

/** Writes all objects of the embedded cluster, running or not, into one file. */
export async function backup(this: Context, _flags: object, file: string): Promise<void> {
  const target = resolve(file);
  const unfinished = `${target}.unfinished`;
  const progress = createProgress(this.process.stderr, systemClock.now);
  removeStore(unfinished); // of one that was killed
  let objects = 0;
  try {
    await progress.step('copy', async (step) => {
      const bytes = runningState(this.home)
        ? await download(this.home, unfinished, (done) => step.update(`${Math.floor(done / MEBIBYTE)} MiB`))
        : await copyStopped(storePath(this.home), unfinished);
      return `${Math.ceil(bytes / MEBIBYTE)} MiB`;
    });
    await progress.step('check', async () => {
      ({ objects } = inspectStore(unfinished));
      await syncToDisk(unfinished);
      return 'every record is whole';
    });
    renameSync(unfinished, target);
    await syncToDisk(dirname(target));
    this.process.stdout.write(`${objects} objects are in ${target}; it holds Secrets, keep it safe\n`);
  } finally {
    removeStore(unfinished);
  }
}

/** Makes a backup the state of the embedded cluster, which must not run; what was there is kept beside it. */
export async function restore(this: Context, flags: { salvage: boolean }, file?: string): Promise<void> {
  if (runningState(this.home)) {
    throw new UserError('RUNNING', 'Cannot restore while the embedded cluster runs', { fix: 'virtctl down, then restore', exitCode: 4 });
  }
  const path = storePath(this.home);
  const unfinished = `${path}.unfinished`;
  removeStore(unfinished);
  try {
    const content = flags.salvage ? salvage(path, unfinished, file) : await copyBackup(file, unfinished);
    beginHistory(unfinished, Math.max(content.revision, newestRevision(path, flags.salvage)) + REVISION_JUMP);
    await syncToDisk(unfinished);
    setStoreAside(path);
    renameSync(unfinished, path);
    await syncToDisk(dirname(path));
    this.process.stdout.write(`${content.objects} objects are restored; virtctl up starts the cluster with them\n${lost(content)}`);
  } finally {
    removeStore(unfinished);
  }
}

async function copyBackup(file: string | undefined, target: string): Promise<StoreContent> {
  if (file === undefined) throw new UserError('USAGE', 'which backup?', { fix: 'virtctl restore FILE', exitCode: 2 });
  const source = resolve(file);
  if (!existsSync(source)) throw new UserError('NO_BACKUP', `There is no file ${source}`, { exitCode: 3 });
  await copyFile(source, target);
  return inspectStore(target);
}

function salvage(path: string, target: string, file: string | undefined): StoreContent {
  const source = file === undefined ? path : resolve(file);
  if (!existsSync(source)) throw new UserError('NO_BACKUP', `There is no store ${source}`, { exitCode: 3 });
  return salvageStore(source, target);
}

/** The highest version number that somebody may have seen; a store that is damaged may not know it any more. */
function newestRevision(path: string, isDamaged: boolean): number {
  const marked = readWatermark(path)?.revision ?? 0;
  if (isDamaged || !existsSync(path)) return marked; // opening it would change what somebody may want to look at
  try {
    return Math.max(marked, inspectStore(path).revision);
  } catch {
    return marked;
  }
}

function lost({ scan: { damaged, unreadable, wholeUpTo } }: StoreContent): string {
  if (damaged.length === 0 && unreadable === undefined) return '';
  const lines = damaged.map(({ revision, key }) => `  record ${revision} (${key}) is lost\n`);
  if (unreadable !== undefined) lines.push(`  some records could not be read: ${unreadable}\n`);
  return `all is well up to revision ${wholeUpTo ?? 0}; of what came later\n${lines.join('')}`;
}

/** The number of bytes. */
async function download(home: string, target: string, onBytes: (done: number) => void): Promise<number> {
  const cluster = loadKubeconfig(kubeconfigPath(home));
  const response = await createTlsFetch(cluster)(new Request(new URL('/snapshot', cluster.server)));
  if (!response.ok || !response.body) {
    throw new UserError('BACKUP_FAILED', 'The cluster did not hand out its objects', { why: `it answered ${response.status}` });
  }
  const output = createWriteStream(target, { mode: 0o600, flags: 'wx' });
  const source = Readable.fromWeb(response.body as never); // node and the web library type the same stream apart
  source.on('data', () => onBytes(output.bytesWritten));
  await pipeline(source, output);
  return output.bytesWritten;
}

async function copyStopped(path: string, target: string): Promise<number> {
  if (!existsSync(path)) {
    throw new UserError('NO_CLUSTER', `There is nothing to back up at ${path}`, { fix: 'virtctl up starts a cluster', exitCode: 3 });
  }
  await copyStore(path, target);
  return statSync(target).size;
}
