/** `virtctl down`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../define-command.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 2, harms: true },
  run: () => import('./run.ts'),
  parameters: {
    flags: {
      purge: { kind: 'boolean', brief: 'Also remove all data: machines, disks, images, certificates', default: false, withNegated: false },
      cache: {
        kind: 'boolean',
        brief: 'With --purge: also remove the cache, with what was built and downloaded',
        default: false,
        withNegated: false,
      },
      yes: { kind: 'boolean', brief: 'With --purge on a terminal: do not ask', default: false, withNegated: false },
    },
  },
  docs: {
    brief: 'Shut guests down gracefully and stop the embedded cluster',
    customUsage: ['', '--purge', '--purge --yes', { input: '--purge --cache', brief: 'nothing of it is left on this machine' }],
  },
});
