/** `virtctl guestosinfo`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 6, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: connection, positional: machine, aliases: connectionAliases },
  docs: { brief: 'Print what the agent in a guest knows of its system, as JSON', customUsage: ['my-vm'] },
});
