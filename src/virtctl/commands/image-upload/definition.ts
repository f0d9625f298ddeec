/** `virtctl image-upload`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, optionalText, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'cluster', rank: 6, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      imagePath: { ...text, brief: 'The disk: raw, qcow2, VMDK or VHDX, compressed with gzip, xz or zstd or not', placeholder: 'file' },
      size: { ...optionalText, brief: 'How large the new disk is to be, such as 10Gi', placeholder: 'size' },
      storageClass: { ...optionalText, brief: 'Class of the new PVC (default: that of the cluster)', placeholder: 'name' },
      accessMode: { ...optionalText, brief: 'Of the new PVC (default: ReadWriteOnce)', placeholder: 'mode' },
      noCreate: off('Send it to a DataVolume or PVC that is there'),
      forceBind: off('Give the PVC its volume at once, where its class would wait for a machine'),
      insecure: off("Without effect: KubeVirt's virtctl needs it, here the disk goes through the API"),
      uploadproxyUrl: { ...optionalText, brief: 'Without effect, as well', placeholder: 'url' },
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'dv or pvc', placeholder: 'KIND' },
        { ...text, brief: 'Name of the DataVolume or PVC, made when it is not there', placeholder: 'NAME' },
      ],
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Send a disk of this machine to a DataVolume or PVC of a cluster',
    fullDescription: [
      'Send a disk of this machine to a DataVolume or PVC of a cluster, through its API. A transfer that was interrupted resumes when the same',
      'command is given again; what arrives is compared by its digest, and a machine starts on all of the disk or not at all.',
    ].join('\n'),
    customUsage: ['dv my-disk --size 10Gi --image-path debian-12.qcow2', 'pvc my-disk --no-create --image-path disk.img.xz'],
  },
});
