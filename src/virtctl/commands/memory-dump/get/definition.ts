/** `virtctl memory-dump get`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../../define-command.ts';
import { connection, connectionAliases, machine, off, optionalText } from '../../../parameters.ts';
import { downloadFlags } from '../parameters.ts';

export const definition = defineClusterCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      claimName: { ...optionalText, brief: 'The PVC (default: that of the last dump)', placeholder: 'name' },
      createClaim: off('Make the PVC, as large as the dump can get'),
      storageClass: { ...optionalText, brief: 'Class of the new PVC (default: that of the cluster)', placeholder: 'name' },
      ...downloadFlags,
      accessMode: { ...optionalText, brief: 'Of the new PVC (default: ReadWriteOnce)', placeholder: 'mode' },
    },
    positional: machine,
    aliases: connectionAliases,
  },
  docs: {
    brief: 'Dump the memory of a running machine to a PVC',
    fullDescription: [
      'Dump the memory of a running machine to a PVC, as an ELF core file of its physical memory. The guest stands still while it is written. The status of',
      'the machine says how far it is (memoryDumpRequest) and what the file is called. The PVC stays associated with the machine until `memory-dump remove`;',
      'another dump takes the place of the last one.',
    ].join('\n'),
    customUsage: [
      'my-vm --claim-name dump --create-claim',
      { input: 'my-vm', brief: 'again, to the same PVC' },
      { input: 'my-vm --output dump.tar.gz', brief: 'and take it' },
    ],
  },
});
