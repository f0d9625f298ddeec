/** `virtctl node ls`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases } from '../../../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: connection, aliases: connectionAliases },
  docs: { brief: 'Show the nodes with what runs on them', customUsage: [''] },
});
