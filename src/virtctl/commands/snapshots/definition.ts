/** `virtctl snapshots`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 14, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection }, positional: machine, aliases: connectionAliases },
  docs: { brief: 'What was kept of a machine', customUsage: ['my-vm'] },
});
