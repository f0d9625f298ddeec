/** `virtctl node uncordon`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { nodeName } from '../../../node/parameters.ts';
import { connection, connectionAliases } from '../../../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 6, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: connection, positional: nodeName, aliases: connectionAliases },
  docs: { brief: 'Open a node to new Pods again', customUsage: ['my-node'] },
});
