/**
 * Disks whose images are containers beside ours (clusters without image volumes): each tells the number of a process of its own in a shared
 * volume, and the root folder of that process is the image. We tell ours, so that they end when we do.
 */

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { imageOf } from '../api/kubevirt/volumes/source-of.ts';
import { COMPUTE_PROCESS_FILE, diskProcessFile } from '../api/launcher/disk-share.ts';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import type { Clock } from '../base/clock.ts';
import { diskImages } from './claim-disk.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Vmi = Pick<VirtualMachineInstance, 'spec'>;

/** A container is there within a second when its image is; an image may take minutes. */
const LOOK_EVERY_MS = { soon: 50, later: 500, soonUntil: 5_000 } as const;

/** The folder where the image of a containerDisk is; undefined when its container is not there yet. */
export function diskRootIn(share: string, volumeName: string): string | undefined {
  try {
    const [, pid] = /^([1-9]\d*)\n$/.exec(readFileSync(join(share, diskProcessFile(volumeName)), 'utf8')) ?? [];
    if (pid === undefined) return undefined;
    const root = `/proc/${pid}/root`;
    return statSync(`${root}/`).isDirectory() ? root : undefined;
  } catch {
    return undefined; // not written yet, or its process has ended
  }
}

/** Resolves when the images of all disks are there, or when the signal aborts. Does nothing where images are volumes. */
export async function untilDisksAreThere(options: { vmi: Vmi; env: Environment; clock: Clock; signal: AbortSignal }): Promise<void> {
  const { vmi, env, clock, signal } = options;
  const share = env[LAUNCHER_VARIABLES.diskShare];
  if (!share) return;
  writeFileSync(join(share, COMPUTE_PROCESS_FILE), `${process.pid}\n`);
  const shown = (vmi.spec.volumes ?? []).filter(imageOf).map(({ name }) => name);
  const names = [...shown, ...Object.keys(diskImages(env))];
  const since = clock.steady();
  while (!signal.aborted && names.some((name) => diskRootIn(share, name) === undefined)) {
    const { soon, later, soonUntil } = LOOK_EVERY_MS;
    await clock.sleep(clock.steady() - since < soonUntil ? soon : later, signal);
  }
}
