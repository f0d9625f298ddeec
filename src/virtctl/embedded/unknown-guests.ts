/** Guests of a data folder that run outside of its cluster: started under another store, and left running on request. */
import { join } from 'node:path';
import { QMP_SOCKET } from '../../api/launcher/files.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import type { Clock } from '../../base/clock.ts';
import { type LivingPod, livingPods } from '../../base/node/living-pods.ts';
import { isSameProcess, killProcess, signalProcess } from '../../base/node/process-identity.ts';
import { readWatermark } from '../../base/node/store-watermark.ts';
import { connectQmp, type QmpClient } from '../../qemu/qmp/client.ts';
import { storePath } from './store-file.ts';

const LOOK_EVERY_MS = 200;
/** As KubeVirt's, for a Pod whose record does not say. */
const GRACE_SECONDS = 180;

/** Those that the cluster of this folder does not know. */
export function unknownGuests(home: string): readonly LivingPod[] {
  const { clusterId } = readWatermark(storePath(home)) ?? {};
  return clusterId === undefined ? [] : livingPods(home).filter(({ record }) => record?.clusterId !== clusterId);
}

type Patience = { readonly clock: Clock; readonly mostSeconds?: number };

/** Presses the power button of each and waits, for as long as its own grace period allows; only then it is cut off. */
export async function shutDownGuests(guests: readonly LivingPod[], patience: Patience): Promise<void> {
  await Promise.all(guests.map((guest) => shutDown(guest, patience)));
}

async function shutDown({ record, containers }: LivingPod, { clock, mostSeconds = Number.POSITIVE_INFINITY }: Patience): Promise<void> {
  const deadline = clock.steady() + Math.min(Math.max(record?.graceSeconds ?? GRACE_SECONDS, 1), mostSeconds) * 1000;
  const isAlive = () => containers.some(({ process }) => isSameProcess(process));
  const qmp = await firstQmp(containers.map(({ sandbox }) => join(sandbox, PUBLIC_VOLUME.mountPath, QMP_SOCKET)));
  if (qmp)
    await qmp.execute('system_powerdown').catch(() => {}); // it may have ended by itself
  else for (const { process } of containers) signalProcess(process, 'SIGTERM');
  while (isAlive() && clock.steady() < deadline) {
    if (qmp && (await isPoweredOff(qmp))) await qmp.execute('quit').catch(() => {});
    await clock.sleep(LOOK_EVERY_MS);
  }
  qmp?.close();
  for (const { process } of containers) killProcess(process);
}

/** Undefined for a Pod that is no guest, or whose QEMU does not listen. */
async function firstQmp(paths: readonly string[]): Promise<QmpClient | undefined> {
  for (const path of paths) {
    try {
      return await connectQmp({ path });
    } catch {
      // not this container
    }
  }
  return undefined;
}

/** QEMU stays when its guest has powered off, so that somebody can ask how. */
async function isPoweredOff(qmp: QmpClient): Promise<boolean> {
  try {
    const { status } = (await qmp.execute('query-status')) as { status?: string }; // QEMU's own answer
    return status === 'shutdown';
  } catch {
    return false;
  }
}
