/** `virtctl image catalogue`: what it is called with; run.ts is what it does. */
import { defineCommand } from '../../../define-command.ts';
import { optionalText } from '../../../parameters.ts';

export const definition = defineCommand({
  help: { rank: 2, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { ...optionalText, brief: 'add or remove; all names are listed without it', placeholder: 'add|remove' },
        { ...optionalText, brief: 'Address of a catalogue that others publish', placeholder: 'URL' },
      ],
    },
  },
  docs: {
    brief: 'List the short names of images, or take in those that a team publishes',
    fullDescription: [
      'List the short names of images that virtctl run takes, or take in those that a team publishes at an address.',
      'Names of your own are in catalogue.json in the data folder; docs/images.md says how it is written. A catalogue from elsewhere is fetched',
      'again when its copy is a day old; without a way to it the copy is used.',
    ].join('\n'),
    customUsage: ['', { input: 'add https://images.example.com/catalogue.json', brief: 'the names of a team' }],
  },
});
