/** `virtctl exec`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 5, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      timeout: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Seconds to wait for the program, at most 600',
        default: '30',
        placeholder: 'seconds',
      },
      stdin: off('Give the program our standard input, up to its end'),
    },
    positional: {
      kind: 'array',
      minimum: 2,
      parameter: {
        ...text,
        brief: 'Name of the machine, then the program and its arguments',
        placeholder: 'NAME COMMAND',
        ...proposeVms,
      },
    },
    aliases: { ...connectionAliases, i: 'stdin' },
  },
  docs: {
    brief: 'Run a program in a guest through its agent, or by ssh where it has none; its exit code is ours',
    customUsage: ['my-vm -- uname -a', { input: "my-vm -- sh -c 'cat > /etc/motd' -i < motd", brief: 'with input' }],
  },
});
