/** `virtctl image tag`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { known, name } from '../parameters.ts';

export const definition = defineCommand({
  help: { rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { ...known, brief: 'An image that is there', placeholder: 'SOURCE' },
        { ...name, brief: 'One more name for it, such as the one that a manifest uses', placeholder: 'TARGET' },
      ],
    },
  },
  docs: {
    brief: 'Give an image one more name; it is then never pulled under that name',
    customUsage: ['localhost/guests/tiny32 kubevirt/cirros-container-disk-demo:latest'],
  },
});
