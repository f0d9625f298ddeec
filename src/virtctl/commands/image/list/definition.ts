/** `virtctl image list`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';

export const definition = defineCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: { output: { kind: 'enum', values: ['json', 'name'], brief: 'Another format', optional: true } },
    aliases: { o: 'output' },
  },
  docs: { brief: 'List the images of the embedded cluster', customUsage: ['', '-o json'] },
});
