/** `virtctl reset`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machines } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 9, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection, dryRun }, positional: machines, aliases: connectionAliases },
  docs: { brief: 'Reset a running machine at once, as its reset button would', customUsage: ['my-vm'] },
});
