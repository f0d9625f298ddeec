/** `virtctl create instancetype`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineCommand } from '../../../define-command.ts';
import { off, optionalText, text } from '../../../parameters.ts';

const device = (what: string) =>
  ({ ...text, variadic: true, optional: true, brief: `${what}: name:NAME,devicename:RESOURCE`, placeholder: 'device' }) as const;

export const definition = defineCommand({
  help: { rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      name: { ...optionalText, brief: 'Name of the instance type (default: instancetype- and five characters)', placeholder: 'name' },
      cpu: { kind: 'parsed', parse: numberParser, brief: 'Processors of the guest', placeholder: 'count' },
      memory: { ...text, brief: 'Memory of the guest', placeholder: 'amount' },
      gpu: device('A graphics processor of the node'),
      hostdevice: device('Another device of the node'),
      iothreadspolicy: { ...optionalText, brief: 'Threads for disks on virtio: shared or auto', placeholder: 'policy' },
      namespaced: off('For one namespace, not for the whole cluster'),
    },
  },
  docs: {
    brief: 'Write the manifest of an instance type; nothing is created',
    customUsage: [
      { input: '--name small --cpu 1 --memory 1Gi | kubectl create -f -', brief: 'a size for machines of every namespace' },
      { input: '--namespaced --cpu 2 --memory 4Gi', brief: 'one for this namespace' },
    ],
  },
});
