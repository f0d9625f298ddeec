/** `virtctl console`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'guest', rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      timeout: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Minutes to wait for the machine to run',
        default: '5',
        placeholder: 'minutes',
      },
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Connect to the serial console of a running machine; Ctrl+] leaves it',
    fullDescription: [
      'Connect to the serial console of a running machine; Ctrl+] leaves it. Input that is no terminal leaves it by its end: when the guest has been silent for a',
      'second, at most ten seconds later. virtctl logs -f keeps showing what a guest prints.',
    ].join('\n'),
    customUsage: ['my-vm'],
  },
});
