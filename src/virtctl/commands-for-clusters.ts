/** The commands that put the product into a Kubernetes cluster and take it out: definitions only, each is loaded when it is called. */
import { buildCommand, numberParser } from '@stricli/core';
import { connection, connectionAliases, off, text } from './parameters.ts';

/** Everything is in one namespace, whatever the kubeconfig says. */
const { namespace: _, ...cluster } = connection;
const { n: __, ...aliases } = connectionAliases;
const timeout = {
  kind: 'parsed',
  parse: numberParser,
  brief: 'Minutes to wait at each step',
  default: '10',
  placeholder: 'minutes',
} as const;

export const install = buildCommand({
  loader: async () => (await import('./commands/install.ts')).install,
  parameters: {
    flags: {
      ...cluster,
      registry: {
        ...text,
        brief: 'What the names of images begin with, such as registry.example.com/kubevirt-ts',
        optional: true,
        placeholder: 'prefix',
      },
      tag: { ...text, brief: 'Tag of the images (default: the version of this program)', optional: true, placeholder: 'tag' },
      imagePullPolicy: {
        kind: 'enum',
        values: ['Always', 'IfNotPresent', 'Never'],
        brief: 'When nodes pull images of the components',
        optional: true,
      },
      imagePullSecret: { ...text, brief: 'Secret of namespace kubevirt with which nodes pull', optional: true, placeholder: 'name' },
      timeout,
    },
    aliases,
  },
  docs: {
    brief: 'Install or upgrade on the Kubernetes cluster of the kubeconfig',
    customUsage: [
      '',
      '--context production',
      { input: '--registry registry.example.com/kubevirt-ts', brief: 'with images from a registry of your own' },
    ],
  },
});

export const uninstall = buildCommand({
  loader: async () => (await import('./commands/uninstall.ts')).uninstall,
  parameters: { flags: { ...cluster, force: off('Delete all machines of the cluster, too'), timeout }, aliases },
  docs: {
    brief: 'Remove everything from the Kubernetes cluster of the kubeconfig; refused while there are machines',
    customUsage: ['', '--context production', { input: '--force', brief: 'with all machines' }],
  },
});
