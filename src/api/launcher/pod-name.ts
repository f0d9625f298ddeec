/** Which Pods are launchers of an instance: those of these names, and no other, whatever their labels and owner references say. */
import { sha1Hex } from '../../base/sha1.ts';
import { LONGEST_LABEL } from '../core/short-name.ts';
import type { VirtualMachineInstance } from '../kubevirt/kinds/virtual-machine-instance.ts';
import { isControlledBy, type KubeObject } from '../meta.ts';

/** Without vowels and what looks alike, as Kubernetes has it. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const PREFIX_LENGTH = LONGEST_LABEL - SUFFIX_LENGTH;

/** What tells where the guest of an instance is. */
export type LauncherOwner = KubeObject & Pick<VirtualMachineInstance, 'status'>;

/**
 * Looks generated but follows from the uid: one instance has one first Pod, and making it twice must fail even for a controller
 * that does not see its own last write. So has each migration one Pod that it goes to.
 */
export function launcherPodNameOf({ metadata: { name, uid = '' } }: KubeObject, migrationUid = ''): string {
  const digest = sha1Hex(`${uid}${migrationUid}`);
  const suffix = Array.from(
    { length: SUFFIX_LENGTH },
    (_, i) => SUFFIX_ALPHABET[Number.parseInt(digest.slice(i * 4, i * 4 + 4), 16) % SUFFIX_ALPHABET.length],
  );
  return `${`virt-launcher-${name}-`.slice(0, PREFIX_LENGTH)}${suffix.join('')}`;
}

/** The Pod in which the guest is: the first one, or the one to which its last completed move went. Our components alone write a status. */
export function currentLauncherNameOf(vmi: LauncherOwner): string {
  const { completed, sourcePod, targetPod } = vmi.status?.migrationState ?? {};
  return (completed ? targetPod : sourcePod) ?? launcherPodNameOf(vmi);
}

/** True for every Pod that this instance has or has had. Anybody who may make Pods can claim to be one by an owner reference alone. */
export function isLauncherOf(pod: KubeObject, vmi: LauncherOwner): boolean {
  const { sourcePod, targetPod } = vmi.status?.migrationState ?? {};
  return isOwn(pod, vmi) && [launcherPodNameOf(vmi), sourcePod, targetPod].includes(pod.metadata.name);
}

/** True for the one in which the guest is. */
export function isCurrentLauncherOf(pod: KubeObject, vmi: LauncherOwner): boolean {
  return isOwn(pod, vmi) && pod.metadata.name === currentLauncherNameOf(vmi);
}

/** True for the one that this migration moves the instance to. */
export function isTargetOf(pod: KubeObject, vmi: KubeObject, migrationUid: string): boolean {
  return migrationUid !== '' && isOwn(pod, vmi) && pod.metadata.name === launcherPodNameOf(vmi, migrationUid);
}

function isOwn(pod: KubeObject, vmi: KubeObject): boolean {
  return isControlledBy(pod, vmi) && pod.metadata.namespace === vmi.metadata.namespace;
}
