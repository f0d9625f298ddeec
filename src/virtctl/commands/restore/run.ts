/** Makes a backup the state of the embedded cluster, which must not run; what was there is kept beside it. */
import { existsSync, mkdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UserError } from '../../../base/errors.ts';
import { forgetRelease } from '../../../base/node/data-release.ts';
import { storeForgotGuests } from '../../../base/node/forgotten-guests.ts';
import { livingPods } from '../../../base/node/living-pods.ts';
import { updatePodRecord } from '../../../base/node/pod-record.ts';
import { readWatermark } from '../../../base/node/store-watermark.ts';
import type { Deps } from '../../deps.ts';
import { whileNobodyElseStarts } from '../../embedded/launch.ts';
import { startLockPath } from '../../embedded/paths.ts';
import { runningState } from '../../embedded/state.ts';
import {
  beginHistory,
  inspectStore,
  putBackWhatWasSetAside,
  putInPlace,
  removeStore,
  type StoreContent,
  salvageStore,
  storePath,
  syncToDisk,
} from '../../embedded/store-file.ts';
import { endSupervisor } from '../../embedded/supervisor.ts';

/** Far more than clients can have seen after the backup was made: no version number is ever given out twice. */
const REVISION_JUMP = 1_000_000;

export async function run(deps: Deps, flags: Flags, file?: string): Promise<void> {
  const { home } = deps;
  const source = sourceOf(home, flags, file);
  assertStopped(home);
  if (source !== storePath(home)) assertIsThere(source, flags); // before anything is made
  mkdirSync(dirname(startLockPath(home)), { recursive: true, mode: 0o700 });
  await whileNobodyElseStarts({ home }, () => restore(deps, flags, source));
}

type Flags = { readonly salvage: boolean; readonly adopt: boolean };

async function restore({ home, stdout, clock }: Deps, flags: Flags, source: string): Promise<void> {
  assertStopped(home);
  await endSupervisor(home, clock); // one that was about to start it again
  const path = storePath(home);
  const unfinished = `${path}.unfinished`;
  removeStore(unfinished);
  putBackWhatWasSetAside(path);
  assertIsThere(source, flags);
  try {
    const content = flags.salvage ? salvageStore(source, unfinished) : await copyBackup(source, unfinished);
    const strangers = livingPods(home).filter(({ uid }) => !content.podUids.has(uid));
    if (strangers.length > 0 && !flags.adopt) throw storeForgotGuests(strangers, { home, adopt: 'virtctl restore --adopt' });
    const adoptedBy = beginHistory(unfinished, Math.max(content.revision, newestRevision(path, flags.salvage)) + REVISION_JUMP);
    await syncToDisk(unfinished);
    putInPlace(unfinished, path);
    await syncToDisk(dirname(path));
    forgetRelease(home);
    for (const { dir } of strangers) updatePodRecord(dir, { adoptedBy });
    stdout.write(`${content.objects} objects are restored; virtctl up starts the cluster with them\n${lost(content)}`);
  } finally {
    removeStore(unfinished);
  }
}

function assertStopped(home: string): void {
  if (!runningState(home)) return;
  throw new UserError('RUNNING', 'Cannot restore while the embedded cluster runs', { fix: 'virtctl down, then restore', exitCode: 4 });
}

function sourceOf(home: string, { salvage }: Flags, file: string | undefined): string {
  if (file === undefined && !salvage) throw new UserError('USAGE', 'which backup?', { fix: 'virtctl restore FILE', exitCode: 2 });
  return file === undefined ? storePath(home) : resolve(file);
}

function assertIsThere(source: string, { salvage }: Flags): void {
  if (existsSync(source)) return;
  throw new UserError('NO_BACKUP', salvage ? `There is no store ${source}` : `There is no file ${source}`, { exitCode: 3 });
}

async function copyBackup(source: string, target: string): Promise<StoreContent> {
  await copyFile(source, target);
  return inspectStore(target);
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
