/** `virtctl uninstall`: what it is called with; run.ts is what it does. */
import { defineClusterCommand } from '../../define-command.ts';
import { aliases, cluster, timeout } from '../../install/flags.ts';
import { off } from '../../parameters.ts';

export const definition = defineClusterCommand({
  help: { group: 'cluster', rank: 2, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: { ...cluster, force: off('Delete all machines of the cluster, too'), timeout }, aliases },
  docs: {
    brief: 'Remove everything from the Kubernetes cluster of the kubeconfig; refused while there are machines',
    customUsage: ['', '--context production', { input: '--force', brief: 'with all machines' }],
  },
});
