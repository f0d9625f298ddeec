/** `virtctl create preference`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { off, optionalText } from '../../../parameters.ts';

export const definition = defineCommand({
  help: { rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      name: { ...optionalText, brief: 'Name of the preference (default: preference- and five characters)', placeholder: 'name' },
      machineType: { ...optionalText, brief: 'Machine type of machines that name none', placeholder: 'type' },
      cpuTopology: {
        ...optionalText,
        brief: 'How processors are arranged: sockets, cores, threads, spread or any',
        placeholder: 'topology',
      },
      volumeStorageClass: { ...optionalText, brief: 'Storage class of disks that are made for a machine', placeholder: 'class' },
      namespaced: off('For one namespace, not for the whole cluster'),
    },
  },
  docs: {
    brief: 'Write the manifest of a preference; nothing is created',
    customUsage: [{ input: '--name linux --cpu-topology cores | kubectl create -f -', brief: 'for machines of every namespace' }],
  },
});
