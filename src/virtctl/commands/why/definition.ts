/** `virtctl why`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine, off } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 11, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection, json: off('Print the answer as JSON') }, positional: machine, aliases: connectionAliases },
  docs: {
    brief: 'Say why a machine does not run: the first thing that blocks, the evidence and the fix',
    customUsage: [
      { input: 'my-vm', brief: 'looks at the machine, its instance, its Pod, its node and their events' },
      'my-vm -n test --json',
    ],
  },
});
