/** Which Pod is the launcher of an instance: the one of this name, and no other, whatever its labels and owner references say. */
import { sha1Hex } from '../../base/sha1.ts';
import { LONGEST_LABEL } from '../core/short-name.ts';
import { isControlledBy, type KubeObject } from '../meta.ts';

/** Without vowels and what looks alike, as Kubernetes has it. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const PREFIX_LENGTH = LONGEST_LABEL - SUFFIX_LENGTH;

/**
 * Looks generated but follows from the uid: one instance has one first Pod, and making it twice must fail even for a controller
 * that does not see its own last write.
 */
export function launcherPodNameOf({ metadata: { name, uid = '' } }: KubeObject): string {
  const digest = sha1Hex(uid);
  const suffix = Array.from(
    { length: SUFFIX_LENGTH },
    (_, i) => SUFFIX_ALPHABET[Number.parseInt(digest.slice(i * 4, i * 4 + 4), 16) % SUFFIX_ALPHABET.length],
  );
  return `${`virt-launcher-${name}-`.slice(0, PREFIX_LENGTH)}${suffix.join('')}`;
}

/** True for the launcher of this instance. Anybody who may make Pods can claim to be one by an owner reference alone. */
export function isLauncherOf(pod: KubeObject, vmi: KubeObject): boolean {
  return isControlledBy(pod, vmi) && pod.metadata.namespace === vmi.metadata.namespace && pod.metadata.name === launcherPodNameOf(vmi);
}
