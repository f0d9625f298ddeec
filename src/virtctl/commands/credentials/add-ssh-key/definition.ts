/** `virtctl credentials add-ssh-key`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { machine, off } from '../../../parameters.ts';
import { aliases, flags, key } from '../flags.ts';

export const definition = defineClusterCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...flags,
      force: off('Change a Secret that does not belong to the machine alone; with --create-secret, also while it runs'),
      ...key,
      createSecret: off('Make a new Secret for the key; the machine takes it at its next start'),
      updateSecret: off('Add the key to --secret, and let the machine use that Secret from its next start on'),
    },
    positional: machine,
    aliases: { ...aliases, f: 'file' },
  },
  docs: {
    brief: 'Let somebody with this key log in to a guest; a running guest with an agent takes it at once',
    customUsage: [
      '--user root --file ~/.ssh/id_ed25519.pub my-vm',
      { input: '--create-secret --user root --file ~/.ssh/id_ed25519.pub my-vm', brief: 'for a machine that has no keys yet' },
    ],
  },
});
