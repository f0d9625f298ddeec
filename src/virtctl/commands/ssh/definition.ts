/** `virtctl ssh`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { proposeTargets, text } from '../../parameters.ts';
import { sshAliases, sshFlags } from '../../ssh/flags.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: { ...sshFlags, command: { ...text, brief: 'Command to run instead of a shell', optional: true, placeholder: 'command' } },
    positional: {
      kind: 'array',
      parameter: {
        ...text,
        brief: '[USER@]NAME, or [USER@]vm/NAME[/NAMESPACE]; behind it a command',
        placeholder: 'TARGET',
        ...proposeTargets,
      },
      minimum: 1,
    },
    aliases: { ...sshAliases, c: 'command' },
  },
  docs: {
    brief: 'Log in to a guest with the ssh of this machine; no port of the guest has to be open',
    customUsage: [
      'root@my-vm',
      { input: 'my-vm uname -a', brief: 'one command, as the user of the machine' },
      { input: "root@vm/my-vm/test -i key -c 'uptime'", brief: 'one command, in namespace test' },
      { input: 'root@vm/my-vm -t "-o StrictHostKeyChecking=no"', brief: 'with an option of ssh' },
    ],
  },
});
