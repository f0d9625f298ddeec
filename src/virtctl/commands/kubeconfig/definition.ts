/** `virtctl kubeconfig`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../define-command.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 4, harms: false },
  run: () => import('./run.ts'),
  parameters: {},
  docs: { brief: "Print the path of the embedded cluster's kubeconfig: export KUBECONFIG=$(virtctl kubeconfig)" },
});
