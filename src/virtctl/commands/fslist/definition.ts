/** `virtctl fslist`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 8, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: connection, positional: machine, aliases: connectionAliases },
  docs: { brief: 'Print the file systems of a guest, as JSON', customUsage: ['my-vm'] },
});
