/** `virtctl upgrade`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../define-command.ts';

export const definition = defineCommand({
  help: { group: 'embedded', rank: 9, harms: true },
  run: () => import('./run.ts'),
  parameters: { flags: {} },
  docs: {
    brief: 'Run the embedded cluster with this release; guests keep running',
    fullDescription: [
      'Run the embedded cluster with the release that this virtctl belongs to: its objects are backed up, its process ends, and one of this release takes over.',
      'Guests keep running meanwhile; nobody can call the API for some seconds. Data that a newer release has used is refused. Install the new release first.',
    ].join('\n'),
    customUsage: [{ input: '', brief: 'after npm install -g, apt install or git pull' }],
  },
});
