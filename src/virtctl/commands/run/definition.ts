/** `virtctl run`: what it is called with; run.ts is what it does. */

import { numberParser } from '@stricli/core';
import { DEFAULT_DISK } from '../../../sdk/manifest/claim.ts';
import type { Context } from '../../context.ts';
import { cpus, DEFAULT_MEMORY } from '../../create/flags.ts';
import { defineCommand } from '../../define-command.ts';
import { connection, connectionAliases, off, optionalText, text } from '../../parameters.ts';

const seconds = { kind: 'parsed', parse: numberParser, placeholder: 'seconds' } as const;

export const definition = defineCommand({
  help: { group: 'machines', rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      ...connection,
      name: { ...optionalText, brief: 'Name of the machine (default: that of the image and five characters)', placeholder: 'name' },
      memory: {
        ...optionalText,
        brief: `Memory of the guest (default: that of the catalogue, else ${DEFAULT_MEMORY})`,
        placeholder: 'amount',
      },
      cpus,
      disk: {
        ...optionalText,
        brief: `Size of its disk, which keeps what the guest writes (default: that of the catalogue, else ${DEFAULT_DISK})`,
        placeholder: 'amount',
      },
      user: { ...optionalText, brief: 'User who logs in, with sudo (default: that of the catalogue)', placeholder: 'user' },
      sshKey: {
        ...optionalText,
        brief: 'File with the public key of that user (default: the key of virtctl shell, $VIRT_HOME/ssh/id_ed25519)',
        placeholder: 'file',
      },
      mount: {
        ...text,
        brief:
          'A folder of this machine and where the guest mounts it, as in .:/work or data:/data:ro; can be repeated. Embedded cluster only',
        optional: true,
        variadic: true,
        placeholder: 'folder',
      },
      ephemeral: off('Without a disk of its own: what the guest writes is lost when the machine stops'),
      cloudInit: {
        ...optionalText,
        brief: 'File with user data for cloud-init instead of that user and key; - is the standard input',
        placeholder: 'file',
      },
      detach: off('Print the name and return at once, without waiting and without a console'),
      rm: off(
        'Run the command behind -- in the machine, through its guest agent, and delete the machine afterwards; we leave with its exit code',
      ),
      agentTimeout: { ...seconds, brief: 'With --rm: seconds until the guest agent has to answer', default: '300' },
      timeout: { ...seconds, brief: 'With --rm: seconds that the command may take, at most 600', default: '600' },
      stdin: off('With --rm: give the command our standard input, up to its end'),
      dryRun: off('Print the manifest and create nothing'),
      output: { kind: 'enum', values: ['yaml', 'json'], brief: 'Format of the manifest that --dry-run prints', default: 'yaml' },
    },
    positional: {
      kind: 'array',
      parameter: {
        ...text,
        brief:
          'A short name (virtctl image search), the address of a disk, a file, or a container image with a disk (default: tiny); behind -- a command for --rm',
        placeholder: 'IMAGE',
        async proposeCompletions(this: Context, partial: string): Promise<readonly string[]> {
          return (await import('../../complete/image-names.ts')).runnableNames(this, partial);
        },
      },
    },
    aliases: { ...connectionAliases, d: 'detach', i: 'stdin', o: 'output' },
  },
  docs: {
    brief: 'Make a machine with a disk of its own from a name, an address or an image, and enter it',
    fullDescription: [
      'Make a machine with a disk of its own, watch it boot and enter it. IMAGE is a short name such as debian:12, the address of a disk, a file, an image in a',
      'registry (HOST/NAME:TAG, oci://HOST/NAME:TAG) or one of virtctl image list. Images that obey cloud-init get a user with your key. What comes from an',
      'address or a file is brought into the embedded cluster first; docs/images.md says how. On a Kubernetes cluster push it to a registry: virtctl image push.',
    ].join('\n'),
    customUsage: [
      { input: '', brief: 'the demo guest, in seconds' },
      { input: 'debian:12 --name web --memory 2Gi --cpus 2 --disk 20Gi', brief: 'as its vendor publishes it' },
      { input: './disk.qcow2', brief: 'a disk of this machine' },
      { input: 'https://images.example.com/web.raw.xz --user admin', brief: 'a disk from elsewhere' },
      { input: 'debian --mount .:/work', brief: 'with this folder at /work, where both may write; .:/work:ro for reading only' },
      { input: 'tiny --ephemeral', brief: 'to try something and forget it' },
      { input: "--rm tiny -- sh -c 'uname -r; exit 3'", brief: 'one command in a machine that is gone afterwards' },
      { input: 'tiny --dry-run -o yaml', brief: 'only the manifest' },
    ],
  },
});
