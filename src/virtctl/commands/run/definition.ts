/** `virtctl run`: what it is called with; run.ts is what it does. */

import { cpus, memory } from '../../create/flags.ts';
import { defineCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, optionalText, text } from '../../parameters.ts';

export const definition = defineCommand({
  help: { group: 'machines', rank: 1 },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      name: { ...optionalText, brief: 'Name of the machine (default: that of the image and five characters)', placeholder: 'name' },
      memory,
      cpus,
      disk: { ...text, brief: 'Size of its disk, which keeps what the guest writes', default: '10Gi', placeholder: 'amount' },
      ephemeral: off('Without a disk of its own: what the guest writes is lost when the machine stops'),
      cloudInit: { ...optionalText, brief: 'File with user data for cloud-init; - is the standard input', placeholder: 'file' },
      detach: off('Print the name and return at once, without waiting and without a console'),
      dryRun: off('Print the manifest and create nothing'),
      output: { kind: 'enum', values: ['yaml', 'json'], brief: 'Format of the manifest that --dry-run prints', default: 'yaml' },
    },
    positional: {
      kind: 'tuple',
      parameters: [
        {
          ...text,
          brief: 'A container image with a disk, which is copied to the disk of the machine; tiny is the demo guest',
          placeholder: 'IMAGE',
        },
      ],
    },
    aliases: { ...connectionAliases, d: 'detach', o: 'output' },
  },
  docs: {
    brief: 'Make a machine with a disk of its own from an image, watch it boot and open its console',
    customUsage: [
      { input: 'tiny', brief: 'the demo guest, in seconds' },
      { input: 'localhost/debian:12 --name web --memory 1Gi --cpus 2 --disk 20Gi', brief: 'a disk that virtctl image import brought in' },
      { input: 'tiny --ephemeral', brief: 'to try something and forget it' },
      { input: 'tiny --dry-run -o yaml', brief: 'only the manifest' },
    ],
  },
});
