/** `virtctl image import`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { text } from '../../../parameters.ts';
import { A_FILE, name } from '../parameters.ts';

export const definition = defineCommand({
  help: { rank: 2 },
  run: () => import('./run.ts'),
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ ...text, brief: A_FILE, placeholder: 'FILE' }, name],
    },
  },
  docs: {
    brief: 'Bring a disk or an image from this machine into the embedded cluster',
    customUsage: ['debian-12.qcow2 localhost/debian:12', 'image.tar quay.io/team/disk:v1'],
  },
});
