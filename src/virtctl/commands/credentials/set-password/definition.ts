/** `virtctl credentials set-password`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { machine, text } from '../../../parameters.ts';
import { aliases, flags } from '../flags.ts';

export const definition = defineClusterCommand({
  help: { rank: 3, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...flags, password: { ...text, brief: 'The new password', placeholder: 'password' } },
    positional: machine,
    aliases: { ...aliases, p: 'password' },
  },
  docs: {
    brief: 'Set the password of a user of a guest; a running guest with an agent takes it at once',
    customUsage: [
      '--user root --password letmein my-vm',
      { input: '--user root --password letmein --force my-vm', brief: 'in a Secret that others use, too' },
    ],
  },
});
