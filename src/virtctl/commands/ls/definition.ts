/** `virtctl ls`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      allNamespaces: off('The machines of all namespaces'),
      output: { kind: 'enum', values: ['wide', 'json', 'yaml', 'name'], brief: 'More columns, or another format', optional: true },
    },
    aliases: { ...connectionAliases, A: 'allNamespaces', o: 'output' },
  },
  docs: {
    brief: 'List virtual machines',
    customUsage: ['', { input: '-A -o wide', brief: 'of all namespaces, with processors, memory and image' }, '-n test -o json'],
  },
});
