/** `virtctl completion`: what it is called with; run.ts is what it does. */
import { buildChoiceParser } from '@stricli/core';
import { defineCommand } from '../../define-command.ts';
import type { Shell } from './run.ts';

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];

export const definition = defineCommand({
  help: { group: 'other', rank: 1, harms: false },
  run: () => import('./run.ts'),
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: buildChoiceParser(SHELLS),
          proposeCompletions: (partial: string) => SHELLS.filter((shell) => shell.startsWith(partial)),
          brief: 'bash, zsh or fish',
          placeholder: 'SHELL',
        },
      ],
    },
  },
  docs: {
    brief: 'Print what a shell needs to complete commands, flags and names of machines',
    customUsage: [
      { input: 'bash', brief: 'in ~/.bashrc: source <(virtctl completion bash)' },
      { input: 'zsh', brief: 'in ~/.zshrc: source <(virtctl completion zsh)' },
      { input: 'fish', brief: 'in config.fish: virtctl completion fish | source' },
    ],
  },
});
