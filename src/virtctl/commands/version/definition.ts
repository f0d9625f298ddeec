/** `virtctl version`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../define-command.ts';
import { connection, connectionAliases } from '../../parameters.ts';

export const definition = defineCommand({
  help: { group: 'other', rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...connection, client: { kind: 'boolean', brief: 'Only the version of this program', default: false, withNegated: false } },
    aliases: { ...connectionAliases, c: 'client' },
  },
  docs: { brief: 'Print the versions of this program and of the server', customUsage: ['', '--client'] },
});
