/** Reads every record of the store: of a running cluster in a copy that it hands out, for it alone may open the file. */
import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, UserError } from '../../base/errors.ts';
import { explainSystemError } from '../../base/node/system-error.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import type { Deps } from '../deps.ts';
import { runningState } from '../embedded/state.ts';
import { checkStore, removeStore, storePath } from '../embedded/store-file.ts';
import type { Facts } from './decide.ts';

type StoreFacts = NonNullable<Facts['store']>;

export async function observeStore({ home, connect }: Deps): Promise<StoreFacts> {
  const path = storePath(home);
  if (!existsSync(path)) return { missing: `there is no store at ${path}`, fix: 'virtctl up begins one' };
  try {
    return runningState(home) ? await checkRunning(home, connect) : checkStore(path);
  } catch (error) {
    const explained = error instanceof UserError ? error : explainSystemError(error); // no room for the copy that is read, for instance
    const { why, fix = 'virtctl restore FILE with a backup' } = explained ?? {};
    return { missing: `it cannot be read: ${messageOf(explained ?? error)}${why ? `: ${why}` : ''}`, fix };
  }
}

async function checkRunning(home: string, connect: Deps['connect']): Promise<StoreFacts> {
  const { client } = await connect({ kubeconfig: kubeconfigPath(home) });
  const copy = join(home, 'run', 'store.snapshot');
  removeStore(copy);
  try {
    const { body } = await client.request('/snapshot');
    if (!body) return { missing: 'the cluster did not hand out a copy' };
    await pipeline(Readable.fromWeb(body as never), createWriteStream(copy, { mode: 0o600, flags: 'wx' })); // node and the web library type the same stream apart
    return checkStore(copy);
  } finally {
    removeStore(copy);
  }
}
