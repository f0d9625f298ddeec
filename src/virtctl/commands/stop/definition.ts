/** `virtctl stop`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machines } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 5, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      dryRun,
      force: { kind: 'boolean', brief: 'Force stop: do not wait for the guest; needs --grace-period', default: false, withNegated: false },
      gracePeriod: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Seconds the guest has to shut down; needs --force',
        optional: true,
        placeholder: 'seconds',
      },
    },
    positional: machines,
    aliases: connectionAliases,
  },
  docs: { brief: 'Stop a virtual machine', customUsage: ['my-vm', 'my-vm --force --grace-period 0'] },
});
