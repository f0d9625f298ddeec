/** `virtctl migrate`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machines, off, optionalText } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 9, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      dryRun,
      addedNodeSelector: { ...optionalText, brief: 'Labels that the node must have, too: key=value,...', placeholder: 'labels' },
      check: off('Only say whether the machine can be moved, and why not'),
      wait: off('Wait until it has been moved, or was not'),
    },
    positional: machines,
    aliases: connectionAliases,
  },
  docs: { brief: 'Move a running machine to another node', customUsage: ['my-vm', 'my-vm --wait', 'my-vm --check'] },
});
