/** Looks on at the console of a guest until it asks for a login. */
import type { Clock } from '../../base/clock.ts';
import type { Connection } from '../deps.ts';

export type PromptWatch = {
  /** Since when it has been seen, by the steady clock. */
  seenSince(): number | undefined;
  stop(): void;
};

const PROMPT = /\blogin: /;
const MOST_CHARACTERS = 4096;

/** Begins at once; what was printed before counts, too. A console that cannot be seen shows no prompt. */
export function watchPrompt(
  { openConsole }: Pick<Connection, 'openConsole'>,
  { namespace, name, clock }: { readonly namespace: string; readonly name: string; readonly clock: Clock },
): PromptWatch {
  const over = new AbortController();
  let since: number | undefined;
  const look = async () => {
    const stream = await openConsole({ namespace, name, isShared: true, isReadOnly: true, signal: over.signal });
    let text = '';
    for await (const chunk of stream.output) {
      text = (text + chunk.toString('latin1')).slice(-MOST_CHARACTERS);
      if (!PROMPT.test(text)) continue;
      since = clock.steady();
      stream.close();
      return;
    }
  };
  look().catch(() => {}); // a machine without a console, or no right to it: there is another way in
  return { seenSince: () => since, stop: () => over.abort() };
}
