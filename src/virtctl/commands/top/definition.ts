/** `virtctl top`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine, off } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 3 },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...connection, allNamespaces: off('The machines of all namespaces') },
    positional: { ...machine, minimum: 0 },
    aliases: { ...connectionAliases, A: 'allNamespaces' },
  },
  docs: {
    brief: 'Show what running machines use of processors and memory',
    customUsage: ['', { input: '-A', brief: 'of all namespaces' }, { input: 'my-vm', brief: 'one of them' }],
  },
});
