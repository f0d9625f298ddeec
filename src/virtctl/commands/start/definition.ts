/** `virtctl start`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machines } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 4, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      dryRun,
      paused: { kind: 'boolean', brief: 'Start with the processors stopped', default: false, withNegated: false },
      discard: {
        kind: 'boolean',
        brief: 'Boot a suspended machine anew: its saved memory is thrown away',
        default: false,
        withNegated: false,
      },
    },
    positional: machines,
    aliases: connectionAliases,
  },
  docs: { brief: 'Start a virtual machine', customUsage: ['my-vm', 'vm my-vm -n test'] },
});
