/** The claim of a machine whose disk begins as an image. Pure. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { ANNOTATION_DISK_IMAGE } from '../../api/kubevirt/names.ts';

/** Of a machine for which nobody says another. */
export const DEFAULT_DISK = '10Gi';

/** The claim that a machine gets with its disk. */
export function rootClaimName(machine: string): string {
  return `${machine}-root`;
}

type Choices = { readonly name: string; readonly image: string; readonly size: string };

/** Without a class: the default one of the cluster makes the volume. */
export function buildClaim({ name, image, size }: Choices): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, annotations: { [ANNOTATION_DISK_IMAGE]: image } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
  };
}
