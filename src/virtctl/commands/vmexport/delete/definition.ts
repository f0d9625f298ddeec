/** `virtctl vmexport delete`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases } from '../../../parameters.ts';
import { exportName } from '../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 3, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: connection, positional: exportName, aliases: connectionAliases },
  docs: { brief: 'Delete an export: its links lead nowhere any more', customUsage: ['my-export'] },
});
