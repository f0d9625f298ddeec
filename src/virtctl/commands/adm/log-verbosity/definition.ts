/** `virtctl adm log-verbosity`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases, off } from '../../../parameters.ts';

const level = (brief: string) => ({ kind: 'parsed', parse: numberParser, brief, optional: true, placeholder: '0-9' }) as const;

export const definition = defineClusterCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      all: level('Of all components; those that are named as well have their own'),
      virtApi: level('Of virt-api'),
      virtController: level('Of virt-controller'),
      virtHandler: level('Of virt-handler, on every node'),
      virtLauncher: level('Of virt-launcher'),
      virtOperator: level('Of virt-operator'),
      reset: off('Forget what was set, before anything else is'),
    },
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Show or change how much components say: everything from 3 on',
    customUsage: ['', '--virt-handler 5', { input: '--reset --all 4', brief: 'all of them, and no node differently' }],
  },
});
