/** `virtctl ui`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineCommand } from '../../define-command.ts';
import { connection, connectionAliases } from '../../parameters.ts';

export const definition = defineCommand({
  help: { group: 'machines', rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
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
    aliases: connectionAliases,
  },
  docs: {
    brief: 'See, make and enter machines in a browser',
    fullDescription:
      'Serves the web page on 127.0.0.1 with the rights of the kubeconfig, until it is ended with Ctrl+C. The printed address lets one browser in, once, and for ten minutes.',
    customUsage: ['', { input: '--port 8080 --no-open', brief: 'print the address only' }],
  },
});
