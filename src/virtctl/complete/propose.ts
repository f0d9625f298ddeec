/** What a shell shows when somebody presses Tab: a line per proposal, with a description behind a tab. */
import { type Application, proposeCompletions } from '@stricli/core';
import type { Context } from '../context.ts';

/** The words after the program's name; the last one is the one being typed, and may be empty. */
export async function propose(app: Application<Context>, words: readonly string[], context: Context): Promise<string> {
  const proposals = await proposeCompletions(app, words.length === 0 ? [''] : words, context);
  return proposals.map(({ completion, brief }) => `${completion}\t${brief}\n`).join('');
}
