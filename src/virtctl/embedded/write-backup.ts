/** Writes all objects of the embedded cluster, running or not, into one file, whole or not at all. */
import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UserError } from '../../base/errors.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import type { Connection, Deps } from '../deps.ts';
import type { Progress } from '../progress.ts';
import { runningState } from './state.ts';
import { copyStore, inspectStore, removeStore, storePath, syncToDisk } from './store-file.ts';

const MEBIBYTE = 2 ** 20;

/** How many objects there are. */
export async function writeBackup({ home, connect }: Deps, target: string, progress: Progress): Promise<number> {
  const unfinished = `${target}.unfinished`;
  requireStore(home);
  removeStore(unfinished); // of one that was killed
  let objects = 0;
  try {
    await progress.step('copy', async (step) => {
      const bytes = runningState(home)
        ? await download(await connect({ kubeconfig: kubeconfigPath(home) }), unfinished, (done) =>
            step.update(`${Math.floor(done / MEBIBYTE)} MiB`),
          )
        : await copyStopped(storePath(home), unfinished);
      return `${Math.ceil(bytes / MEBIBYTE)} MiB`;
    });
    await progress.step('check', async () => {
      ({ objects } = inspectStore(unfinished));
      await syncToDisk(unfinished);
      return 'every record is whole';
    });
    renameSync(unfinished, target);
    await syncToDisk(dirname(target));
    return objects;
  } finally {
    removeStore(unfinished);
  }
}

/** The number of bytes. */
async function download({ client }: Connection, target: string, onBytes: (done: number) => void): Promise<number> {
  const response = await client.request('/snapshot');
  if (!response.body) throw new UserError('BACKUP_FAILED', 'The cluster did not hand out its objects');
  const output = createWriteStream(target, { mode: 0o600, flags: 'wx' });
  const source = Readable.fromWeb(response.body as never); // node and the web library type the same stream apart
  source.on('data', () => onBytes(output.bytesWritten));
  await pipeline(source, output);
  return output.bytesWritten;
}

async function copyStopped(path: string, target: string): Promise<number> {
  await copyStore(path, target);
  return statSync(target).size;
}

function requireStore(home: string): void {
  const path = storePath(home);
  if (runningState(home) || existsSync(path)) return;
  throw new UserError('NO_CLUSTER', `There is nothing to back up at ${path}`, { fix: 'virtctl up starts a cluster', exitCode: 3 });
}
