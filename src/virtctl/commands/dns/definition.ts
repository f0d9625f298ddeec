/** `virtctl dns`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'network', rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      host: {
        kind: 'boolean',
        brief: 'Let programs of this machine ask the name server, at a port of 127.0.0.1; --no-host ends that',
        optional: true,
      },
    },
    positional: { kind: 'tuple', parameters: [] },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Show the names of machines and Services, and how to look them up',
    customUsage: ['', { input: '--host', brief: 'also from this machine' }],
  },
});
