/** `virtctl vmexport create`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases } from '../../../parameters.ts';
import { exportName, sourceFlags } from '../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection, ...sourceFlags }, positional: exportName, aliases: connectionAliases },
  docs: {
    brief: 'Make an export, whose links can be used by whoever has its token',
    customUsage: ['my-export --vm my-vm', 'my-export --snapshot my-snapshot', 'my-export --pvc my-pvc --ttl 30m'],
  },
});
