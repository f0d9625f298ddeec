/** `virtctl node kill`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { nodeName } from '../../../node/parameters.ts';
import { connection, connectionAliases, off } from '../../../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 4, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection, yes: off('On a terminal: do not ask') }, positional: nodeName, aliases: connectionAliases },
  docs: {
    brief: 'Cut a node of the embedded cluster off, with all that runs there, as when the power goes',
    customUsage: ['my-node', { input: 'my-node --yes', brief: 'without a question' }],
  },
});
