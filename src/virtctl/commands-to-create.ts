/** The commands that make machines or describe them: definitions only, each is loaded when it is called. */
import { buildCommand, buildRouteMap, numberParser } from '@stricli/core';
import type { RunStrategy } from '../api/kubevirt/kinds/virtual-machine.ts';
import { connection, connectionAliases, off, text } from './parameters.ts';

const RUN_STRATEGIES = ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once'] as const satisfies readonly RunStrategy[];

const memory = { ...text, brief: 'Memory of the guest', default: '512Mi', placeholder: 'amount' } as const;
const cpus = { kind: 'parsed', parse: numberParser, brief: 'Processors of the guest', optional: true, placeholder: 'count' } as const;
const optionalText = { ...text, optional: true } as const;

export const run = buildCommand({
  loader: async () => (await import('./commands/run.ts')).run,
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
      { input: 'quay.io/containerdisks/debian:12 --name web --memory 1Gi --cpus 2 --disk 20Gi', brief: 'an image from a registry' },
      { input: 'tiny --ephemeral', brief: 'to try something and forget it' },
      { input: 'tiny --dry-run -o yaml', brief: 'only the manifest' },
    ],
  },
});

const createVm = buildCommand({
  loader: async () => (await import('./commands/create-vm.ts')).createVm,
  parameters: {
    flags: {
      name: { ...optionalText, brief: 'Name of the machine (default: vm- and five characters)', placeholder: 'name' },
      namespace: { ...optionalText, brief: 'Namespace to write into the manifest', placeholder: 'name' },
      runStrategy: { kind: 'enum', values: RUN_STRATEGIES, brief: 'When it runs', default: 'Always' },
      terminationGracePeriod: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Seconds the guest has to shut down',
        default: '180',
        placeholder: 'seconds',
      },
      memory,
      cpus,
      volumeContainerdisk: {
        ...text,
        variadic: true,
        optional: true,
        brief: 'A disk from a container image: IMAGE, or src:IMAGE,name:NAME,bootorder:N',
        placeholder: 'volume',
      },
      volumePvc: {
        ...text,
        variadic: true,
        optional: true,
        brief: 'A disk from a claim: CLAIM, or src:CLAIM,name:NAME,bootorder:N',
        placeholder: 'volume',
      },
      cloudInit: { kind: 'enum', values: ['noCloud', 'none'], brief: 'How cloud-init gets its data', default: 'noCloud' },
      cloudInitUserData: { ...optionalText, brief: 'User data for cloud-init, as base64', placeholder: 'base64' },
      cloudInitNetworkData: { ...optionalText, brief: 'Network data for cloud-init, as base64', placeholder: 'base64' },
      user: { ...optionalText, brief: 'The first user, made by cloud-init', placeholder: 'name' },
      passwordFile: { ...optionalText, brief: "File with that user's password", placeholder: 'file' },
      sshKey: { ...text, variadic: true, optional: true, brief: 'A public key that may log in', placeholder: 'key' },
      accessCred: {
        ...text,
        variadic: true,
        optional: true,
        brief: 'Keys or passwords from a Secret: type:ssh|password,src:SECRET,method:ga|nocloud,user:NAME',
        placeholder: 'credential',
      },
      gaManageSsh: off('Let SELinux in the guest allow its agent to manage keys (setsebool virt_qemu_ga_manage_ssh)'),
    },
    aliases: { n: 'namespace' },
  },
  docs: {
    brief: 'Write the manifest of a virtual machine; nothing is created',
    customUsage: [
      { input: '--volume-containerdisk localhost/guests/tiny:latest | kubectl create -f -', brief: 'make it right away' },
      {
        input: '--name web --memory 1Gi --volume-containerdisk src:quay.io/containerdisks/debian:12,name:root',
        brief: 'with names of your own',
      },
      {
        input: '--volume-pvc data --run-strategy Manual --user me --ssh-key "$(cat ~/.ssh/id_ed25519.pub)"',
        brief: 'from a claim, with a user',
      },
    ],
  },
});

export const create = buildRouteMap({ routes: { vm: createVm }, docs: { brief: 'Write manifests' } });
