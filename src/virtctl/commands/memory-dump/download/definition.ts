/** `virtctl memory-dump download`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases, machine } from '../../../parameters.ts';
import { downloadFlags } from '../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: { flags: { ...connection, ...downloadFlags }, positional: machine, aliases: connectionAliases },
  docs: {
    brief: 'Take the last dump of the memory of a machine out of a cluster',
    fullDescription: [
      'Take the last dump of the memory of a machine out of a cluster, through its API, as a tar archive. One that is being made is waited for. An export of',
      'its PVC is made and deleted afterwards; a transfer that was interrupted resumes when the same command is given again.',
    ].join('\n'),
    customUsage: ['my-vm --output dump.tar.gz'],
  },
});
