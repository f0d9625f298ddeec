/** The volumes of an instance: a field for each source that a volume can have. */
import { boolean, object, oneOf, optional, quantity, text } from '../../schema/dsl.ts';

const cloudInitSchema = object('Data for cloud-init, as a small disk with the label cidata.', {
  userData: optional(text('What cloud-init is to do: a #cloud-config document or a script.')),
  userDataBase64: optional(text('The same, encoded.')),
  secretRef: optional(object('Take it from the key userdata of a Secret.', { name: optional(text('The Secret, in the same namespace.')) })),
  networkData: optional(text('Network configuration for cloud-init.')),
  networkDataBase64: optional(text('The same, encoded.')),
});

const imageSourceSchema = object('A disk image that comes in a container image, under /disk. Writes are lost when the instance ends.', {
  image: text('The container image.', { minLength: 1 }),
  imagePullPolicy: optional(oneOf('When to fetch it.', ['Always', 'IfNotPresent', 'Never'])),
  path: optional(text('The file inside the image, when there is more than one.')),
});

const claimSourceSchema = object(
  'A persistent volume claim of the same namespace; its disk is the file disk.img, made when it is not there.',
  {
    claimName: text('The claim.', { minLength: 1 }),
    readOnly: optional(boolean('The guest may read but not write.')),
  },
);

export const volumeSchema = object('A source of data for a disk. Exactly one source is set.', {
  name: text('What disks refer to.'),
  containerDisk: optional(imageSourceSchema),
  registryDisk: optional(imageSourceSchema),
  cloudInitNoCloud: optional(cloudInitSchema),
  emptyDisk: optional(object('An empty disk that lives as long as the instance.', { capacity: quantity('Its size.') })),
  persistentVolumeClaim: optional(claimSourceSchema),
  ephemeral: optional(
    object('A disk that begins with the content of a claim. Writes are lost when the instance ends and never reach the claim.', {
      persistentVolumeClaim: optional(claimSourceSchema),
    }),
  ),
});
