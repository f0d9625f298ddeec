/** `virtctl export`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, optionalText, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'cluster', rank: 8, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      snapshot: off('NAME is a snapshot, not a machine: the machine may run'),
      readinessTimeout: { ...optionalText, brief: 'How long to wait for the disks (default: 2m)', placeholder: 'time' },
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'Name of the machine, which has to be stopped', placeholder: 'NAME', ...proposeVms },
        { ...text, brief: 'The file to write', placeholder: 'FILE' },
      ],
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Write a machine with its disks to one file, for virtctl import',
    fullDescription: [
      'Write a machine with its disks to one file, which virtctl import makes the same machine of, in this cluster or another one. The file is a tar archive:',
      'machine.json, the disks, and an index with the SHA-256 of each. It gets its name when it is whole.',
    ].join('\n'),
    customUsage: ['my-vm my-vm.tar', 'my-snapshot my-vm.tar --snapshot'],
  },
});
