/** Backup and restore of the embedded cluster's objects. Disks and images are files of their own and not part of it. */
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, UserError } from '../../base/errors.ts';
import { loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { createTlsFetch } from '../../client/node/tls-fetch.ts';
import type { Context } from '../context.ts';
import { kubeconfigPath } from '../embedded/paths.ts';
import { runningState } from '../embedded/state.ts';

/** Far more than clients can have seen after the backup was made: no version number is ever given out twice. */
const REVISION_JUMP = 1_000_000;

/** Writes all objects of the embedded cluster, running or not, into one file. */
export async function backup(this: Context, _flags: object, file: string): Promise<void> {
  const target = resolve(file);
  const unfinished = `${target}.unfinished`;
  rmSync(unfinished, { force: true });
  try {
    if (runningState(this.home)) await download(this.home, unfinished);
    else await copyStopped(storePath(this.home), unfinished);
    const { objects } = inspect(unfinished);
    await syncFile(unfinished);
    renameSync(unfinished, target);
    await syncFile(dirname(target));
    this.process.stdout.write(`${objects} objects are in ${target}; it holds Secrets, keep it safe\n`);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Makes a backup the state of the embedded cluster, which must not run; what was there is kept beside it. */
export async function restore(this: Context, _flags: object, file: string): Promise<void> {
  if (runningState(this.home)) {
    throw new UserError('RUNNING', 'Cannot restore while the embedded cluster runs', { fix: 'virtctl down, then restore', exitCode: 4 });
  }
  const source = resolve(file);
  if (!existsSync(source)) throw new UserError('NO_BACKUP', `There is no file ${source}`, { exitCode: 3 });
  const path = storePath(this.home);
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  try {
    await copyFile(source, unfinished);
    const { objects, revision } = inspect(unfinished);
    jump(unfinished, Math.max(revision, existsSync(path) ? inspect(path).revision : 0) + REVISION_JUMP);
    await syncFile(unfinished);
    setAside(path);
    renameSync(unfinished, path);
    await syncFile(dirname(path));
    this.process.stdout.write(`${objects} objects are restored; virtctl up starts the cluster with them\n`);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** With its log: a log that stayed behind would be taken for one of the new database. */
function setAside(path: string): void {
  for (const part of ['', '-wal', '-shm']) {
    if (existsSync(path + part)) renameSync(path + part, `${path}.before-restore${part}`);
    else rmSync(`${path}.before-restore${part}`, { force: true });
  }
}

function storePath(home: string): string {
  return join(home, 'store.db');
}

async function download(home: string, target: string): Promise<void> {
  const cluster = loadKubeconfig(kubeconfigPath(home));
  const response = await createTlsFetch(cluster)(new Request(new URL('/snapshot', cluster.server)));
  if (!response.ok || !response.body) {
    throw new UserError('BACKUP_FAILED', 'The cluster did not hand out its objects', { why: `it answered ${response.status}` });
  }
  await pipeline(Readable.fromWeb(response.body as never), createWriteStream(target, { mode: 0o600, flags: 'wx' })); // node and the web library type the same stream apart
}

/** A cluster that was killed has part of its objects in the log beside the file: SQLite joins them. */
async function copyStopped(path: string, target: string): Promise<void> {
  if (!existsSync(path)) {
    throw new UserError('NO_CLUSTER', `There is nothing to back up at ${path}`, { fix: 'virtctl up starts a cluster', exitCode: 3 });
  }
  await (await open(target, 'wx', 0o600)).close();
  const database = new DatabaseSync(path);
  try {
    await copyDatabase(database, target);
  } finally {
    database.close();
  }
}

/** Checks that a file is a whole store, and counts. */
function inspect(path: string): { objects: number; revision: number } {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    const check = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
    if (check.quick_check !== 'ok') throw new Error(check.quick_check);
    const row = database
      .prepare(
        `SELECT (SELECT count(*) FROM log AS l WHERE value IS NOT NULL AND NOT EXISTS
           (SELECT 1 FROM log AS newer WHERE newer.key = l.key AND newer.revision > l.revision)) AS objects,
           max(coalesce((SELECT max(revision) FROM log), 0), coalesce((SELECT value FROM meta WHERE name = 'forgotten'), 0)) AS revision`,
      )
      .get() as { objects: number; revision: number };
    return row;
  } catch (error) {
    throw new UserError('BACKUP_DAMAGED', `${path} is not a backup of a cluster`, { why: messageOf(error), cause: error });
  } finally {
    database?.close();
  }
}

/** Whoever watched before the restore has to read everything again: nothing before this revision is known any more. */
function jump(path: string, revision: number): void {
  const database = new DatabaseSync(path);
  database
    .prepare("INSERT INTO meta (name, value) VALUES ('forgotten', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    .run(revision);
  database.close();
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
