/** `virtctl create vm`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import type { RunStrategy } from '../../../../api/kubevirt/kinds/virtual-machine.ts';
import { cpus, DEFAULT_MEMORY } from '../../../create/flags.ts';
import { defineCommand } from '../../../define-command.ts';
import { off, optionalText, text } from '../../../parameters.ts';

const RUN_STRATEGIES = ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once'] as const satisfies readonly RunStrategy[];

const inferred = (what: string) =>
  ({ kind: 'boolean', optional: true, brief: `Let the first PVC say which ${what} goes with it (default: where it does)` }) as const;

export const definition = defineCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
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
      memory: {
        ...optionalText,
        brief: `Memory of the guest (default: ${DEFAULT_MEMORY}, or that of the instance type)`,
        placeholder: 'amount',
      },
      cpus,
      instancetype: { ...optionalText, brief: 'Instance type: NAME, or KIND/NAME', placeholder: 'type' },
      inferInstancetype: inferred('instance type'),
      inferInstancetypeFrom: { ...optionalText, brief: 'Volume whose PVC says which instance type goes with it', placeholder: 'volume' },
      preference: { ...optionalText, brief: 'Preference: NAME, or KIND/NAME', placeholder: 'preference' },
      inferPreference: inferred('preference'),
      inferPreferenceFrom: { ...optionalText, brief: 'Volume whose PVC says which preference goes with it', placeholder: 'volume' },
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
        brief: 'A disk from a PVC: PVC, or src:PVC,name:NAME,bootorder:N',
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
        brief: 'from a PVC, with a user',
      },
    ],
  },
});
