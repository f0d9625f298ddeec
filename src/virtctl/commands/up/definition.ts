/** `virtctl up`: what it is called with; run.ts is what it does. */
import { numberParser } from '@stricli/core';
import { defineCommand } from '../../define-command.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      demo: { kind: 'boolean', brief: 'Also boot a first virtual machine and show it', default: false, withNegated: false },
      port: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'Port of the API on 127.0.0.1 (default: 6443); the next free one is taken when it is busy',
        optional: true,
        placeholder: 'port',
      },
      nodes: {
        kind: 'parsed',
        parse: numberParser,
        brief: 'How many nodes the cluster has; all are this machine, each with its share of it',
        optional: true,
        placeholder: 'number',
      },
      hostNetwork: {
        kind: 'boolean',
        brief: 'Use the network of this machine where the cluster cannot have its own: guests then have no way out',
        default: false,
        withNegated: false,
      },
      merge: {
        kind: 'boolean',
        brief: 'Also put a context kubevirt-ts into your kubeconfig; what is there is never overwritten',
        default: false,
        withNegated: false,
      },
      file: {
        kind: 'parsed',
        parse: String,
        brief: 'Also apply the manifests of this file, such as vm.yaml of a project; - is the standard input',
        optional: true,
        placeholder: 'file',
      },
      boot: {
        kind: 'boolean',
        brief: 'Also start the cluster whenever this machine starts (systemd, else the line for cron); --no-boot ends that',
        optional: true,
      },
      withoutControllers: {
        kind: 'boolean',
        brief: 'Serve the API alone: for a cluster that an object ends, so that it can be deleted; the next up is a whole one',
        optional: true,
        withNegated: false,
      },
      adopt: {
        kind: 'boolean',
        brief: 'Leave guests running, outside of the cluster, that its store does not know',
        default: false,
        withNegated: false,
      },
    },
    aliases: { f: 'file' },
  },
  docs: {
    brief: 'Start the embedded cluster on this machine',
    customUsage: [
      '',
      '--demo',
      '--port 7443',
      '--nodes 2',
      { input: '-f vm.yaml', brief: 'with the machines of a project' },
      '--merge',
      '--boot',
    ],
  },
});
