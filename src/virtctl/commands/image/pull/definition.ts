/** `virtctl image pull`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { name } from '../parameters.ts';

export const definition = defineCommand({
  help: { rank: 3, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ ...name, brief: 'Its name in a registry: HOST/NAME:TAG or HOST/NAME@DIGEST', placeholder: 'REF' }],
    },
  },
  docs: {
    brief: 'Fetch an image from a registry into the embedded cluster',
    fullDescription: [
      'Fetch an image from a registry into the embedded cluster, which does so by itself when a Pod or a machine needs one. A download that was',
      'interrupted resumes where it was. Plain http is spoken to registries at the loopback only. Mirrors are named in registries.json in the data folder.',
      'Logins are those of podman and docker, as with virtctl image push.',
    ].join('\n'),
    customUsage: ['quay.io/containerdisks/debian:12', 'localhost:5000/guests/tiny32'],
  },
});
