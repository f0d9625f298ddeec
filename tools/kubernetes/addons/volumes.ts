/** Makes and removes what volumes of class `local` stand on: folders that every node sees, and loop devices. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../../src/api/core/volume.ts';
import { VOLUME_SNAPSHOTS } from '../../../src/api/core/volume-snapshot.ts';
import { isApiError } from '../../../src/base/errors.ts';
import { type Cache, startCache } from '../../../src/client/cache.ts';
import type { Client } from '../../../src/client/client.ts';
import { copyFolder } from '../../../src/control-plane/volumes/copy-folder.ts';
import { loopsBackedBy } from '../loops.ts';
import { decideSteps, type Step, volumeFor } from './decide.ts';

/** Where nodes see the folder with the volumes. */
const FOLDER_ON_NODES = '/var/lib/volumes';
const AGAIN_MS = 1000;

export type VolumesInput = Omit<Parameters<typeof startCache>[0], 'resource' | 'keep'> & {
  readonly client: Client;
  /** The cluster's. */
  readonly folder: string;
  readonly nodes: readonly string[];
};

/** Looks at everything after every change, one pass at a time. */
export async function runVolumes(input: VolumesInput): Promise<void> {
  const claims = startCache({ ...input, resource: PERSISTENT_VOLUME_CLAIMS });
  const volumes = startCache({ ...input, resource: PERSISTENT_VOLUMES });
  const snapshots = startCache({ ...input, resource: VOLUME_SNAPSHOTS });
  await Promise.all([claims.synced, volumes.synced, snapshots.synced]);
  let hasChanged: (() => void) | undefined;
  const caches: Cache<never>[] = [claims as never, volumes as never, snapshots as never]; // only that something changed matters
  for (const cache of caches) cache.subscribe(() => hasChanged?.());
  while (!input.signal.aborted) {
    const changed = new Promise<void>((resolve) => {
      hasChanged = resolve;
    });
    let hasFailed = false;
    for (const step of decideSteps(claims.list(), volumes.list(), snapshots.list())) {
      try {
        await take(step, input);
      } catch (error) {
        hasFailed = true;
        input.log.warn('a volume waits', { step: step.do, error });
      }
    }
    await (hasFailed ? input.clock.sleep(AGAIN_MS, input.signal) : changed);
  }
}

async function take(step: Step, { client, folder, nodes, signal }: VolumesInput): Promise<void> {
  if (step.do === 'make') {
    const path = step.isBlock ? makeDevice(folder, step) : await makeFolder(folder, step, signal);
    try {
      await client.create(PERSISTENT_VOLUMES, volumeFor(step, path, nodes));
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error; // the copy that we decided on was a little old
    }
    return;
  }
  const { name } = step.volume.metadata;
  for (const device of loopsBackedBy((file) => file === deviceFile(folder, name))) execFileSync('losetup', ['--detach', device]);
  rmSync(deviceFile(folder, name), { force: true });
  rmSync(join(folder, 'volumes', name), { recursive: true, force: true });
  await client.delete(PERSISTENT_VOLUMES, { name });
}

/** For everybody: Kubernetes sets no owner on volumes of this kind, and launchers are not root. */
async function makeFolder(folder: string, { name, from }: Step & { do: 'make' }, signal: AbortSignal): Promise<string> {
  if (from) {
    const into = join(folder, 'volumes', `${name}.unfinished`);
    rmSync(into, { recursive: true, force: true });
    await copyFolder({ from: join(folder, 'volumes', from), into, signal });
    rmSync(join(folder, 'volumes', name), { recursive: true, force: true });
    renameSync(into, join(folder, 'volumes', name));
  }
  mkdirSync(join(folder, 'volumes', name), { recursive: true });
  chmodSync(join(folder, 'volumes', name), 0o777);
  return join(FOLDER_ON_NODES, name);
}

function makeDevice(folder: string, { name, bytes }: Step & { do: 'make' }): string {
  const file = deviceFile(folder, name);
  const [existing] = loopsBackedBy((each) => each === file);
  if (existing) return existing;
  mkdirSync(join(folder, 'devices'), { recursive: true });
  writeFileSync(file, '');
  truncateSync(file, bytes);
  return execFileSync('losetup', ['--find', '--show', file], { encoding: 'utf8' }).trim();
}

function deviceFile(folder: string, name: string): string {
  return join(folder, 'devices', name);
}
