/** `virtctl describe`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: connection, positional: machine, aliases: connectionAliases },
  docs: {
    brief: 'Show one machine: size, disks, addresses, what it does and what it waits for',
    customUsage: ['my-vm', 'vm my-vm -n test'],
  },
});
