/** `virtctl import`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, optionalText, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'cluster', rank: 9, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      name: { ...optionalText, brief: 'Another name for the machine: it gets new disks, addresses and identifiers', placeholder: 'name' },
      storageClass: { ...optionalText, brief: 'Class of the PVCs (default: that of the cluster)', placeholder: 'name' },
      forceBind: off('Give the PVCs their volumes at once, where their class would wait for a machine'),
    },
    positional: { kind: 'tuple', parameters: [{ ...text, brief: 'A file that virtctl export has written', placeholder: 'FILE' }] },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Make a machine and its disks of a file that virtctl export has written',
    fullDescription: [
      'Make a machine and its disks of a file that virtctl export has written. All of the file is looked at first, and a damaged one is refused. The machine does',
      'not run: virtctl start starts it. When something fails, what was made is removed.',
    ].join('\n'),
    customUsage: ['my-vm.tar', 'my-vm.tar --name another-vm'],
  },
});
