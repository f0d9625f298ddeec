/** `virtctl node drain`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../../define-command.ts';
import { nodeName } from '../../../node/parameters.ts';
import { connection, connectionAliases, off } from '../../../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 5, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      force: off('Also Pods that nobody makes again'),
      timeout: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'How many seconds to wait for them (default: 300)',
        optional: true,
        placeholder: 'seconds',
      },
    },
    positional: nodeName,
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Close a node to new Pods and ask those that are there to leave, machines included',
    customUsage: ['my-node', { input: 'my-node --timeout 60', brief: 'wait for a minute' }],
  },
});
