/** `virtctl docs`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineCommand } from '../../define-command.ts';

export const definition = defineCommand({
  help: { group: 'other', rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      port: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Port of 127.0.0.1; any free one unless given',
        optional: true,
        placeholder: 'port',
      },
      open: { kind: 'boolean', brief: 'Open it in a browser', default: true },
    },
    positional: { kind: 'tuple', parameters: [] },
  },
  docs: {
    brief: 'Read the documentation of this release in a browser',
    fullDescription:
      'Serves the documentation, with a search, on 127.0.0.1 until it is ended with Ctrl+C. It needs no cluster and no network.',
    customUsage: ['', { input: '--port 8090 --no-open', brief: 'print the address only' }],
  },
});
