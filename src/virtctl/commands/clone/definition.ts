/** `virtctl clone`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, optionalText, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 16, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      snapshot: {
        ...optionalText,
        brief: 'Begin as this snapshot of the machine; with memory (virtctl snapshot --memory) the new one resumes there and does not boot',
        placeholder: 'name',
      },
      start: off('Start the new machine'),
    },
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
    customUsage: [
      { input: 'my-vm my-vm-2', brief: 'with disks, addresses and an identity of its own; it does not run yet' },
      { input: '--snapshot warm --start my-vm my-vm-3', brief: 'from the prompt at which the snapshot was taken' },
    ],
  },
});
