/** The way of a backup to the Pod that has the PVC: what is to be made is told at one socket of the Pod, and the other, at which its files are, is moved into QEMU's folder. */
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { pluggedNames } from '../../api/launcher/attachment.ts';
import { BACKUP_PLACE, BACKUP_SOCKET, BACKUP_WHOLE, type BackupAnswer, type BackupHead } from '../../api/launcher/backup.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import type { Clock } from '../../base/clock.ts';
import { diskLinkOf, linkDisk, unlinkDisk } from '../hotplug/disk-link.ts';
import { answersOf } from '../pod-answers.ts';
import { connectToPod } from '../suspension/open-store.ts';
import type { BackupWay, OpenBackup } from '../vmi/domain-command.ts';

type Options = { readonly kubeletRoot: string; readonly folder: string; readonly clock: Clock };

export function backupsFrom(options: Options): BackupWay {
  /** A Pod is for one backup, and one backup is made at a time. */
  let current: { readonly podUid: string; readonly abort: AbortController } | undefined;
  const of = (podUid: string) => {
    if (current?.podUid !== podUid) current = { podUid, abort: new AbortController() };
    return current.abort;
  };
  const forget = (podUid: string) => {
    if (current?.podUid === podUid) current = undefined;
  };
  return {
    async open(podUid, head) {
      const { signal } = of(podUid);
      try {
        signal.throwIfAborted();
        const opened = await openBackup(options, { podUid, head, signal });
        const close = () => {
          forget(podUid);
          opened.close();
        };
        return { ...opened, close };
      } catch (error) {
        forget(podUid);
        throw error;
      }
    },
    end: (podUid, why) => of(podUid).abort(new Error(why)),
  };
}

type Wanted = { readonly podUid: string; readonly head: BackupHead; readonly signal: AbortSignal };

async function openBackup({ kubeletRoot, folder, clock }: Options, { podUid, head, signal }: Wanted): Promise<OpenBackup> {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/.test(podUid)) throw new Error('there is no Pod that could write it');
  const ends = { kubeletRoot, folder, volume: BACKUP_PLACE, attachPodUid: podUid };
  const pod = await connectToPod(join(kubeletRoot, podPath(podUid), podVolumePath('empty-dir', PUBLIC_VOLUME.name), BACKUP_SOCKET), clock);
  const { first, last } = answersOf<BackupAnswer>(pod);
  const close = () => {
    pod.destroy();
    unlinkDisk(ends);
  };
  try {
    pod.write(`${JSON.stringify(head)}\n`);
    const answer = await Promise.race([first, aborted(signal)]);
    if (!('ready' in answer)) throw refusal(answer);
    linkDisk(ends);
    if (diskLinkOf(ends) !== 'linked') throw new Error('the socket of its files cannot be put into the folder of QEMU');
  } catch (error) {
    close();
    throw error;
  }
  const failed = failureOf(last, signal);
  failed.catch(() => {}); // whoever waits hears it
  return { socket: pluggedNames(BACKUP_PLACE).socket, failed, finish: () => finish(pod, last), close };
}

/** Before the end the Pod has nothing to say but that it cannot go on. */
async function failureOf(last: Promise<BackupAnswer>, signal: AbortSignal): Promise<never> {
  throw refusal(await Promise.race([last, aborted(signal)]));
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

async function finish(pod: Socket, last: Promise<BackupAnswer>): Promise<number> {
  pod.end(`${BACKUP_WHOLE}\n`);
  const answer = await last;
  if ('written' in answer && Number.isSafeInteger(answer.written)) return answer.written;
  throw refusal(answer);
}

function refusal(answer: BackupAnswer): Error {
  return new Error('error' in answer ? answer.error : 'the Pod that writes it did not say what it wrote');
}
