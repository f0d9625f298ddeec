/** `virtctl doctor`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../define-command.ts';
import { off } from '../../parameters.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 5, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    flags: { json: off('Print the checks as JSON'), store: off('Also read every record of the store and compare its checksum') },
  },
  docs: {
    brief: 'Check whether this machine can run guests, and say how to fix what is wrong',
    customUsage: ['', '--store', { input: '--json', brief: 'for scripts; the exit code is 7 when something blocks' }],
  },
});
