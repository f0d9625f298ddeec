/** `virtctl node stop`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { nodeName } from '../../../node/parameters.ts';
import { connection, connectionAliases } from '../../../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 2, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: connection, positional: nodeName, aliases: connectionAliases },
  docs: { brief: 'Stop a node of the embedded cluster; its guests run on', customUsage: ['my-node'] },
});
