/** `virtctl memory-dump remove`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases, machine } from '../../../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 2, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: connection, positional: machine, aliases: connectionAliases },
  docs: {
    brief: 'Let go of the PVC of memory dumps, or end a dump that is being made',
    fullDescription:
      'Let go of the PVC of memory dumps, which keeps the last one. A dump that is being made is ended, and nothing is left of it.',
    customUsage: ['my-vm'],
  },
});
