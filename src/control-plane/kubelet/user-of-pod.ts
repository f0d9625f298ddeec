/**
 * Which user a Pod runs as and owns its folders, first match wins:
 *
 *   its record names one                            that one, for as long as the Pod lives
 *   it has a record, or there are no users here     what its spec asks for: it was started before there were users, or we are not root
 *   it mounts a folder that an administrator gave   what its spec asks for, which the owner of the folder was told
 *   it runs a machine that has a file of the host   as well
 *   it runs a machine                               that of the machine, for as long as the machine lives
 *   otherwise                                       one of its own
 *
 * What the spec asks for is what the container sees as its user, as with user namespaces: the host knows it by another number.
 */
import type { Pod } from '../../api/core/pod.ts';
import { isSharedFolder } from '../../api/core/volume.ts';
import { type PodUser, readPodRecord } from '../../base/node/pod-record.ts';
import { type ClaimOptions, isProvisioned, volumeOfClaim } from './claims.ts';
import type { PodUsers } from './pod-users.ts';
import { type MayBecome, type RunAs, volumeOwner } from './privileges.ts';

export type UserOptions = ClaimOptions & {
  readonly dir: string;
  readonly users: PodUsers | undefined;
  /** A name that outlives the Pod, when it runs a machine. */
  readonly machineOf: ((pod: Pod) => Promise<string | undefined>) | undefined;
};

/** The rules above, for a Pod whose volumes are about to be brought; throws as long as one of its claims is not bound. */
export async function userForPod({ dir, users, machineOf, ...options }: UserOptions): Promise<PodUser | undefined> {
  const { pod } = options;
  const record = readPodRecord(dir);
  if (record || !users) return record?.user;
  const groups: number[] = [];
  for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
    if (!persistentVolumeClaim) continue;
    const volume = await volumeOfClaim(persistentVolumeClaim.claimName, options);
    if (isSharedFolder(volume)) continue; // it is reached as the user of the machine, as everybody else reaches it
    if (!isProvisioned(volume)) return undefined;
    groups.push(users.groupOf(volume.spec.claimRef?.uid ?? ''));
  }
  const podUid = pod.metadata.uid ?? '';
  const machine = await machineOf?.(pod);
  if (machine !== undefined && pod.spec.volumes?.some(({ hostPath }) => hostPath)) return undefined;
  const of = machine ?? `Pod ${podUid}`;
  const uid = users.take(podUid, of);
  return { uid, gid: uid, groups, of };
}

/** Who owns the folders of a Pod that has been prepared; undefined when they are ours. */
export function ownerOfPod(dir: string, pod: Pod, mayBecome: MayBecome): RunAs | undefined {
  return readPodRecord(dir)?.user ?? volumeOwner(pod, mayBecome);
}
