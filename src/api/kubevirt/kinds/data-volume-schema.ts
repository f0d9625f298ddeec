/** The schema of a DataVolume, as CDI publishes it. Its spec is part of a VirtualMachine, too: `dataVolumeTemplates`. */
import type { ObjectMeta } from '../../meta.ts';
import { foreign, integer, object, oneOf, optional, text } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';

const objectSchema = (description: string) => object(description, { namespace: text('That of the DataVolume.'), name: text('Its name.') });

const sourceSchema = object('Where the content comes from: one of these.', {
  http: optional(
    object('A disk at an address.', {
      url: text('The address, http or https.'),
      checksum: optional(
        text('What the file at the address must be: md5, sha1, sha256 or sha512, a colon, and the digest in hexadecimal.'),
      ),
    }),
  ),
  registry: optional(
    object('A container image with a disk in it.', {
      url: optional(text('docker:// and the name of the image.')),
      pullMethod: optional(oneOf('Both are the same here: the node pulls.', ['pod', 'node'])),
    }),
  ),
  upload: optional(foreign<object>('A disk that somebody sends: virtctl image-upload.')),
  blank: optional(foreign<object>('An empty disk.')),
  pvc: optional(objectSchema('A copy of the disk of another PVC.')),
  snapshot: optional(objectSchema('What a VolumeSnapshot has kept.')),
});

type AccessMode = 'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod';
/** What of a PVC can be asked for; admission refuses the rest. */
export type ClaimWish = {
  readonly accessModes?: AccessMode[];
  readonly volumeMode?: 'Filesystem' | 'Block';
  readonly storageClassName?: string;
  readonly resources?: { readonly requests?: { readonly [name: string]: string } };
};

export const specSchema = object('What the volume holds and how large it is.', {
  source: optional(sourceSchema),
  pvc: optional(foreign<ClaimWish>('The PVC: accessModes, volumeMode, storageClassName and resources.')),
  storage: optional(foreign<ClaimWish>('The same for a disk: the PVC is larger by what its file system needs.')),
  contentType: optional(oneOf('kubevirt: a disk.', ['kubevirt'])),
});

export const statusSchema = object('How far the content is. Written by our components alone.', {
  claimName: optional(text('The PVC.')),
  phase: optional(
    text(
      'Pending, ImportScheduled, ImportInProgress, CloneScheduled, CloneInProgress, UploadScheduled, UploadReady, WaitForFirstConsumer, Succeeded or Failed.',
    ),
  ),
  progress: optional(text('In percent, or N/A.')),
  restartCount: optional(integer('How often its Pod has begun again.')),
  conditions: optional(conditionsSchema),
});

/** One of `dataVolumeTemplates`. */
export const dataVolumeTemplateSchema = object('A DataVolume that the machine has.', {
  apiVersion: optional(text('cdi.kubevirt.io/v1beta1.')),
  kind: optional(text('DataVolume.')),
  metadata: foreign<Pick<ObjectMeta, 'name'> & Partial<Pick<ObjectMeta, 'namespace' | 'labels' | 'annotations'>>>(
    'Its name, labels and annotations.',
  ),
  spec: specSchema,
  status: optional(foreign<object>('Without effect.')),
});
