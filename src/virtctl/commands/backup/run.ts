/** Writes all objects of the embedded cluster, running or not, into one file. Disks and images are not part of it. */
import { resolve } from 'node:path';
import type { Deps } from '../../deps.ts';
import { writeBackup } from '../../embedded/write-backup.ts';
import { createProgress } from '../../progress.ts';

export async function run(deps: Deps, _flags: object, file: string): Promise<void> {
  const target = resolve(file);
  const objects = await writeBackup(deps, target, createProgress(deps.stderr, deps.clock));
  deps.stdout.write(`${objects} objects are in ${target}; it holds Secrets, keep it safe\n`);
}
