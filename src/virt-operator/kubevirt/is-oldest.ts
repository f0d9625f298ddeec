/** Which KubeVirt object holds, where there are several. Pure. */
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { keyOf } from '../../api/meta.ts';

/** The one that was there first; with two nobody could say which one holds. */
export function isOldest({ metadata }: KubeVirt, all: readonly KubeVirt[]): boolean {
  const age = ({ creationTimestamp = '', uid = '' }: KubeVirt['metadata']) => `${creationTimestamp} ${uid}`;
  return all.every((other) => keyOf(other.metadata) === keyOf(metadata) || age(metadata) <= age(other.metadata));
}
