/** `virtctl snapshot`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 13, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      memory: off('Keep the memory of the guest, too: a machine that runs is suspended for it, and resumed when it is taken'),
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'Name of the machine, running or not', placeholder: 'NAME', ...proposeVms },
        { ...text, brief: 'Name of the snapshot (default: that of the machine and the time)', placeholder: 'SNAPSHOT', optional: true },
      ],
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Keep a machine and its disks as they are now',
    customUsage: [
      { input: 'my-vm before-upgrade', brief: 'virtctl rollback my-vm before-upgrade is the way back' },
      { input: '--memory my-vm warm', brief: 'rollback resumes it there, and so do clones: virtctl clone --snapshot warm' },
    ],
  },
});
