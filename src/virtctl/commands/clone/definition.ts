/** `virtctl clone`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 16 },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...connection },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'Name of a machine', placeholder: 'NAME', ...proposeVms },
        { ...text, brief: 'Name of the new one', placeholder: 'NEW' },
      ],
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Make another machine that begins as one is now',
    customUsage: [{ input: 'my-vm my-vm-2', brief: 'with disks, addresses and an identity of its own; it does not run yet' }],
  },
});
