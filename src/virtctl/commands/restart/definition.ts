/** `virtctl restart`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machines } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 6, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      dryRun,
      force: { kind: 'boolean', brief: 'Force stop the guest first; needs --grace-period 0', default: false, withNegated: false },
      gracePeriod: { kind: 'parsed', parse: numberParser, brief: 'Only 0, together with --force', optional: true, placeholder: 'seconds' },
    },
    positional: machines,
    aliases: connectionAliases,
  },
  docs: { brief: 'Restart a virtual machine', customUsage: ['my-vm', 'my-vm --force --grace-period 0'] },
});
