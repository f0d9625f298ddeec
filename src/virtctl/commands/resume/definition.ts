/** `virtctl resume`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machines } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 7, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection, dryRun }, positional: machines, aliases: connectionAliases },
  docs: { brief: 'Resume a suspended machine where it was', customUsage: ['my-vm'] },
});
