/** The volumes of an instance: a field for each source that a volume can have. */
import { boolean, foreign, object, oneOf, optional, quantity, text } from '../../schema/dsl.ts';

const cloudInitFields = {
  userData: optional(text('What cloud-init is to do: a #cloud-config document or a script.')),
  userDataBase64: optional(text('The same, encoded.')),
  secretRef: optional(object('Take it from the key userdata of a Secret.', { name: optional(text('The Secret, in the same namespace.')) })),
  networkData: optional(text('Network configuration for cloud-init.')),
  networkDataBase64: optional(text('The same, encoded.')),
  networkDataSecretRef: optional(
    object('Take it from the key networkdata of a Secret.', { name: optional(text('The Secret, in the same namespace.')) }),
  ),
};

const imageSourceSchema = object('A disk image that comes in a container image, under /disk. Writes are lost when the instance ends.', {
  image: text('The container image.', { minLength: 1 }),
  imagePullPolicy: optional(oneOf('When to fetch it.', ['Always', 'IfNotPresent', 'Never'])),
  imagePullSecret: optional(text('The Secret with the credentials for its registry, in the same namespace.')),
  path: optional(text('The file inside the image, when there is more than one.')),
});

const claimFields = {
  claimName: text('The PVC.', { minLength: 1 }),
  readOnly: optional(boolean('The guest may read but not write.')),
};
const CLAIM = 'A PVC of the same namespace; its disk is the file disk.img, made when it is not there.';
const claimSourceSchema = object(CLAIM, claimFields);
const hotpluggable = optional(boolean('True: it is attached while the guest runs, by a Pod of its own, and can be taken away again.'));

const volumeLabel = optional(text('The label of the disk; cfgdata when not given.'));

const isOptional = optional(boolean('True: an object that is not there is a disk without files. Otherwise the instance waits for it.'));

const namedSchema = (description: string) => object(description, { name: optional(text('Its name, in the same namespace.')) });

/** A file of a volume from the downward API, as for Pods. */
type DownwardFile = { readonly path: string; readonly fieldRef: { readonly fieldPath: string; readonly apiVersion?: string } };

export const volumeSchema = object('A source of data for a disk. Exactly one source is set.', {
  name: text('What disks refer to.'),
  containerDisk: optional(imageSourceSchema),
  registryDisk: optional(imageSourceSchema),
  cloudInitNoCloud: optional(object('Data for cloud-init, as a small disk with the label cidata.', cloudInitFields)),
  cloudInitConfigDrive: optional(
    object('Data for cloud-init, as a small disk with the label config-2, laid out as those of OpenStack.', cloudInitFields),
  ),
  hostDisk: optional(
    object(
      'A file of the node as a raw disk, in a folder that the KubeVirt object names (hostDiskFolders), with the feature gate HostDisk.',
      {
        path: text('The file, directly in that folder. It keeps owner, mode and size.', { minLength: 1 }),
        type: oneOf('Disk: the file is there. DiskOrCreate: it is made when it is not.', ['Disk', 'DiskOrCreate']),
        capacity: optional(quantity('How large a disk is that is made.')),
        shared: optional(boolean('Kept: a machine with such a disk is not moved, whoever else has the file.')),
      },
    ),
  ),
  emptyDisk: optional(object('An empty disk that lives as long as the instance.', { capacity: quantity('Its size.') })),
  persistentVolumeClaim: optional(object(CLAIM, { ...claimFields, hotpluggable })),
  configMap: optional(
    object('The values of a ConfigMap as files of a small disk, as they are when the instance starts.', {
      name: optional(text('The ConfigMap, in the same namespace.')),
      optional: isOptional,
      volumeLabel,
    }),
  ),
  secret: optional(
    object('The values of a Secret as files of a small disk, as they are when the instance starts.', {
      secretName: optional(text('The Secret, in the same namespace.')),
      optional: isOptional,
      volumeLabel,
    }),
  ),
  downwardAPI: optional(
    object(
      'Fields of the Pod as files of a small disk: its name, namespace, uid, labels and annotations, which are those of the instance.',
      {
        fields: optional(foreign<readonly DownwardFile[]>('The files, each with a path and a fieldRef, as for Pods.', 'array')),
        volumeLabel,
      },
    ),
  ),
  serviceAccount: optional(
    object('A token of a service account, with the certificate authority and the namespace, on a small disk. It ends with the instance.', {
      serviceAccountName: optional(text('The account, in the same namespace. The Pod runs as it.')),
    }),
  ),
  sysprep: optional(
    object('Answer files for the set-up of Windows (autounattend.xml, unattend.xml), on a small disk with the label unattendCD.', {
      configMap: optional(namedSchema('A ConfigMap that has them.')),
      secret: optional(namedSchema('A Secret that has them.')),
    }),
  ),
  dataVolume: optional(
    object('The PVC that has the name of a DataVolume. Whoever makes the PVC, the instance waits until it is there.', {
      name: text('The DataVolume, and with it the PVC.', { minLength: 1 }),
      hotpluggable,
    }),
  ),
  memoryDump: optional(
    object('The PVC that the memory of the guest is dumped to. It has no disk; virtctl memory-dump adds and removes it.', {
      claimName: text('The PVC.', { minLength: 1 }),
      hotpluggable,
      readOnly: optional(boolean('Without effect: a dump is written.')),
    }),
  ),
  ephemeral: optional(
    object('A disk that begins with the content of a PVC. Writes are lost when the instance ends and never reach the PVC.', {
      persistentVolumeClaim: optional(claimSourceSchema),
    }),
  ),
});
