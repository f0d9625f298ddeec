/** The claim of a machine whose disk begins as an image. Pure. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { ANNOTATION_DISK_IMAGE } from '../../api/kubevirt/names.ts';

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
