/** `virtctl image remove`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { known } from '../parameters.ts';

export const definition = defineCommand({
  help: { rank: 5, harms: true },
  run: () => import('./run.ts'),
  parameters: { positional: { kind: 'tuple', parameters: [known] } },
  docs: { brief: 'Take a name away; with its last name an image goes', customUsage: ['localhost/debian:12'] },
});
