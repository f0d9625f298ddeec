/** `virtctl credentials remove-ssh-key`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { machine } from '../../../parameters.ts';
import { aliases, flags, key } from '../flags.ts';

export const definition = defineClusterCommand({
  help: { rank: 2, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: { ...flags, ...key }, positional: machine, aliases: { ...aliases, f: 'file' } },
  docs: {
    brief: 'Take a key away from a guest',
    customUsage: [
      '--user root --file ~/.ssh/id_ed25519.pub my-vm',
      { input: '--user root --value "ssh-ed25519 AAAA..." my-vm', brief: 'by the key itself' },
    ],
  },
});
