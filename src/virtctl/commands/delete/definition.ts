/** `virtctl delete`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machines, off } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 12, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...connection, yes: off('On a terminal: do not ask') },
    positional: machines,
    aliases: { ...connectionAliases, y: 'yes' },
  },
  docs: {
    brief: 'Delete machines, with the disks that belong to them',
    customUsage: [{ input: 'my-vm', brief: 'asks first on a terminal, and says what goes and what stays' }, 'web db --yes'],
  },
});
