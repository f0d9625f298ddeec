/** `virtctl vmexport download`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases, off, optionalText } from '../../../parameters.ts';
import { exportName, sourceFlags } from '../parameters.ts';

const WITHOUT_EFFECT = "Without effect: KubeVirt's virtctl needs it, here the disk comes through the API";

export const definition = defineClusterCommand({
  help: { rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      ...sourceFlags,
      output: { ...optionalText, brief: 'The file to write; - or nothing is the standard output', placeholder: 'file' },
      volume: { ...optionalText, brief: 'The PVC whose disk is taken, where there are more than one', placeholder: 'name' },
      format: {
        ...optionalText,
        brief: 'gzip or raw (default: gzip); files of a PVC without a disk come as tar.gz or tar',
        placeholder: 'format',
      },
      keepVme: off('Keep the export afterwards, also when this command has made it'),
      deleteVme: off('Delete the export afterwards, also when it was there before'),
      manifest: off('Take the manifest of the machine, not a disk'),
      manifestOutputFormat: { ...optionalText, brief: 'yaml or json (default: yaml)', placeholder: 'format' },
      includeSecret: off('With --manifest: and the Secret by which the other cluster imports the disks'),
      serviceUrl: { ...optionalText, brief: 'With --manifest: the host (and port) to write into its addresses', placeholder: 'host' },
      readinessTimeout: { ...optionalText, brief: 'How long to wait for the export (default: 2m)', placeholder: 'time' },
      insecure: off(WITHOUT_EFFECT),
      portForward: off(WITHOUT_EFFECT),
      localPort: { ...optionalText, brief: WITHOUT_EFFECT, placeholder: 'port' },
      retry: { ...optionalText, brief: 'Without effect: what was interrupted always resumes', placeholder: 'times' },
    },
    positional: exportName,
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Take a disk, or the manifest of its machine, out of a cluster',
    fullDescription: [
      'Take a disk, or the manifest of its machine, out of a cluster, through its API. With --vm, --snapshot or --pvc the export is made first, and deleted',
      'afterwards. A transfer that was interrupted resumes when the same command is given again; the file gets its name when it is whole.',
    ].join('\n'),
    customUsage: [
      'my-export --vm my-vm --output disk.img.gz',
      'my-export --pvc my-pvc --format raw --output disk.img',
      'my-export --vm my-vm --manifest --include-secret',
    ],
  },
});
