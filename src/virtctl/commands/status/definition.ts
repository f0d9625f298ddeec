/** `virtctl status`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../define-command.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {},
  docs: { brief: 'Show whether the embedded cluster runs, and its machines' },
});
