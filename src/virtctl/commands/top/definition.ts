/** `virtctl top`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine, off, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      allNamespaces: off('The machines of all namespaces'),
      history: off('What they used over the last hour, as their nodes remember it'),
      since: { ...text, brief: 'How far back the history goes, at most 10h (default: 1h)', optional: true, placeholder: 'duration' },
    },
    positional: { ...machine, minimum: 0 },
    aliases: { ...connectionAliases, A: 'allNamespaces' },
  },
  docs: {
    brief: 'Show what running machines use of processors and memory',
    customUsage: [
      '',
      { input: '-A', brief: 'of all namespaces' },
      { input: 'my-vm', brief: 'one of them' },
      { input: '--history --since 10h', brief: 'what they used until now' },
    ],
  },
});
