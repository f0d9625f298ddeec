/** `virtctl shell`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 0, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      user: {
        ...text,
        brief: 'User in the guest (default: that of the annotation kubevirt.io/login-user, else root)',
        optional: true,
        placeholder: 'user',
      },
      identityFile: { ...text, brief: 'Private key (default: $VIRT_HOME/ssh/id_ed25519)', optional: true, placeholder: 'file' },
      port: { kind: 'parsed', parse: numberParser, brief: 'Port of the ssh server in the guest', default: '22', placeholder: 'port' },
      timeout: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Minutes to wait for a way in; 0 looks once',
        default: '5',
        placeholder: 'minutes',
      },
      stdin: off('Give the program our standard input, up to its end'),
    },
    positional: {
      kind: 'array',
      parameter: {
        ...text,
        brief: 'Name of the machine (default: the only one that runs); behind -- a program and its arguments',
        placeholder: 'NAME',
        ...proposeVms,
      },
    },
    aliases: { ...connectionAliases, u: 'user', i: 'identityFile', p: 'port' },
  },
  docs: {
    brief: 'Enter a machine by its agent, ssh or console, and wait until one is there; exit code 5: none was in time',
    customUsage: [
      'my-vm',
      { input: 'my-vm -- uname -a', brief: "one program: by the guest's agent, else by ssh; its exit code is ours" },
      { input: '-u debian my-vm', brief: 'as another user' },
    ],
  },
});
