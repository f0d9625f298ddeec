/** `virtctl image search`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { optionalText } from '../../../parameters.ts';

export const definition = defineCommand({
  help: { rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ ...optionalText, brief: 'A part of the name or of the description; all names without it', placeholder: 'WORD' }],
    },
  },
  docs: {
    brief: 'Find the short names that virtctl run takes, such as debian',
    customUsage: ['', { input: 'debian', brief: 'those of Debian' }],
  },
});
