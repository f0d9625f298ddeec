/** `virtctl logs`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineCommand } from '../../define-command.ts';
import { connection, connectionAliases, machine, off } from '../../parameters.ts';

export const definition = defineCommand({
  help: { group: 'machines', rank: 12, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      follow: off('Follow the log: also print what comes from now on'),
      tail: { kind: 'parsed', parse: numberParser, brief: 'Only this many of the last lines', optional: true, placeholder: 'lines' },
      previous: off('What it printed in its last run that is over'),
      system: off('The log of the embedded cluster instead of a guest; KUBEVIRT_LOG=debug shows more'),
    },
    positional: { ...machine, minimum: 0 },
    aliases: { ...connectionAliases, f: 'follow', p: 'previous' },
  },
  docs: {
    brief: 'Show what a guest printed on its serial port',
    customUsage: [
      { input: 'my-vm --tail 20', brief: 'the last lines of a guest' },
      { input: 'my-vm -f', brief: 'and what comes after them; Ctrl+C ends it' },
      { input: 'my-vm --previous', brief: 'of the run before; of a stopped machine, of its last' },
      { input: '--system', brief: 'what the embedded cluster did, and why' },
    ],
  },
});
