/** `virtctl addvolume`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machine, off, optionalText, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 13, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      dryRun,
      volumeName: { ...text, brief: 'The PVC, or the DataVolume, which is also the name of the volume', placeholder: 'name' },
      persist: off('Keep it over restarts, in the template of the VM'),
      serial: { ...optionalText, brief: 'Serial number of the disk (default: the name of the volume)', placeholder: 'text' },
      cache: { ...optionalText, brief: 'none, writethrough or writeback', placeholder: 'mode' },
      bus: { ...optionalText, brief: 'scsi (default) or virtio', placeholder: 'bus' },
      diskType: { ...optionalText, brief: 'disk, the only one', placeholder: 'type' },
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Attach a volume to a running machine',
    customUsage: ['my-vm --volume-name data', { input: 'my-vm --volume-name data --persist', brief: 'it is there after a restart, too' }],
  },
});
