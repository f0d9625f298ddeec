/** One line per step with how long it took. On a terminal the running step is shown and replaced by its result; elsewhere only results are printed. */

import { plainText } from '../base/clean-lines.ts';
import type { Clock } from '../base/clock.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';
import { hasColour, paintFor } from './colour.ts';
import { foldLine } from './fold-line.ts';

type Output = { write(text: Uint8Array): unknown; readonly isTTY?: boolean; readonly columns?: number };

export type Step = { /** Replaces the text behind the running step. */ update(text: string): void };
/** What a step came to; a warning is done all the same, but not as it should be. */
export type StepResult = string | { readonly warning: string };

export type Progress = {
  /** Runs `work`; what it returns is printed behind the step's name. */
  step(name: string, work: (step: Step) => Promise<StepResult>): Promise<void>;
};

/** Where the text of a step begins, and where its time stands when the text is not longer. */
const TEXT_AT = 14;
const TIME_AT = 74;

export function createProgress(output: Output, clock: Pick<Clock, 'now'>, env: Record<string, string | undefined> = process.env): Progress {
  const isLive = hasColour(output, env);
  const paint = paintFor(output, env);
  // Bytes, because the sequences in them are ours: as text they would be shown, not obeyed.
  const write = (text: string) => output.write(Buffer.from(`${isLive ? '\r\x1b[2K' : ''}${text}`));
  const draw = (mark: string, name: string, text: string) => `  ${mark} ${name.padEnd(9)} ${text}`;
  return {
    async step(name, work) {
      const started = clock.now();
      const update = (text: string) => {
        const width = (output.columns || 100) - 1; // a terminal that does not know its size says 0
        if (isLive) write(paint('dim', draw('.', name, plainText(text)).slice(0, width)));
      };
      update('');
      try {
        const result = await work({ update });
        const [mark, colour, text] =
          typeof result === 'string' ? (['✓', 'green', result] as const) : (['!', 'yellow', result.warning] as const);
        const seconds = `${((clock.now() - started) / 1000).toFixed(1)}s`;
        const width = output.isTTY ? output.columns || undefined : undefined;
        const line = draw(mark, name, escapeToOneLine(text));
        const whole = `${line.padEnd(Math.min(TIME_AT, (width ?? TIME_AT + 6) - 6))} ${seconds}`;
        write(`${foldLine(whole, { columns: width, indent: TEXT_AT }).replace(mark, () => paint(colour, mark))}\n`);
      } catch (error) {
        write(`  ${paint('red', '✗')} ${name}\n`);
        throw error;
      }
    },
  };
}
