/** `virtctl install`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { aliases, cluster, timeout } from '../../install/flags.ts';
import { text } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'cluster', rank: 1, harms: true },
  run: () => import('./run.ts'),
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
