/** `virtctl soft-reboot`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machines } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 10, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection, dryRun }, positional: machines, aliases: connectionAliases },
  docs: { brief: 'Ask the guest to reboot itself: its agent, or else by Ctrl+Alt+Del', customUsage: ['my-vm'] },
});
