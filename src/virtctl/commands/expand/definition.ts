/** `virtctl expand`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { connection, connectionAliases, proposeVms, text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'machines', rank: 14, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      vm: { ...text, brief: 'Name of a machine of the cluster', optional: true, placeholder: 'name', ...proposeVms },
      file: { ...text, brief: 'File with the manifest of a machine; - is the standard input', optional: true, placeholder: 'file' },
      output: { kind: 'enum', values: ['yaml', 'json'], brief: 'Format', default: 'yaml' },
    },
    aliases: { ...connectionAliases, f: 'file', o: 'output' },
  },
  docs: {
    brief: 'Show a machine with everything filled in that its author left open; nothing is changed',
    customUsage: ['--vm my-vm', { input: '-f my-vm.yaml -o json', brief: 'a manifest that is not on the cluster yet' }],
  },
});
