/** `virtctl guestfs`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, optionalText, text } from '../../parameters.ts';

const id = { kind: 'parsed', parse: numberParser, optional: true, placeholder: 'id' } as const;

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 14, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      image: { ...optionalText, brief: 'Image with the tools (default: the one that the installation names)', placeholder: 'image' },
      pullPolicy: {
        kind: 'enum',
        values: ['Always', 'IfNotPresent', 'Never'],
        brief: 'When the image is fetched',
        default: 'IfNotPresent',
      },
      kvm: off('Use KVM of the node, for tools that start an appliance'),
      root: off('Work as root, where the namespace allows it'),
      uid: { ...id, brief: 'User to work as (default: that of machines, 107)' },
      gid: { ...id, brief: 'Group to work as (default: 107)' },
      fsGroup: { ...id, brief: 'Group that the files of the PVC are given to (default: 107)' },
    },
    positional: { kind: 'tuple', parameters: [{ ...text, brief: 'Name of the PVC', placeholder: 'PVC' }] },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Open a shell beside the disk of a PVC that no machine uses',
    customUsage: [{ input: 'my-data --image quay.io/kubevirt/libguestfs-tools:latest', brief: 'the disk is /disk/disk.img, or /dev/vda' }],
  },
});
