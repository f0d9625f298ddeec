/** `virtctl scp`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { off, text } from '../../parameters.ts';
import { sshAliases, sshFlags } from '../../ssh/flags.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 4, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...sshFlags, recursive: off('Copy folders, too'), preserve: off('Keep times and permissions') },
    positional: {
      kind: 'tuple',
      parameters: [
        { ...text, brief: 'File here, or [USER@]NAME:PATH, or [USER@]vm/NAME[/NAMESPACE]:PATH', placeholder: 'FROM' },
        { ...text, brief: 'The other one of them', placeholder: 'TO' },
      ],
    },
    aliases: { ...sshAliases, r: 'recursive' },
  },
  docs: {
    brief: 'Copy files into a guest or out of it with the scp of this machine',
    customUsage: [
      'file my-vm:/tmp/',
      { input: '-r root@my-vm:/etc ./etc', brief: 'a folder out of the guest' },
      { input: 'file root@vm/my-vm/test:/tmp/', brief: 'in namespace test' },
    ],
  },
});
