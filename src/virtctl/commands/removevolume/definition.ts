/** `virtctl removevolume`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, dryRun, machine, off, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 14, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      dryRun,
      volumeName: { ...text, brief: 'The volume', placeholder: 'name' },
      persist: off('Take it out of the template of the VM, too'),
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Take a volume away from a running machine that was attached to it',
    customUsage: [
      'my-vm --volume-name data',
      { input: 'my-vm --volume-name data --persist', brief: 'one that was attached with --persist' },
    ],
  },
});
