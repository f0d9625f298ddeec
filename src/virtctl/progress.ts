/** One line per step with how long it took. On a terminal the running step is shown and replaced by its result; elsewhere only results are printed. */
import type { Clock } from '../base/clock.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';
import { plainText } from './logs/clean-lines.ts';

type Output = { write(text: Uint8Array): unknown; readonly isTTY?: boolean; readonly columns?: number };

export type Step = { /** Replaces the text behind the running step. */ update(text: string): void };

export type Progress = {
  /** Runs `work`; what it returns is printed behind the step's name. */
  step(name: string, work: (step: Step) => Promise<string>): Promise<void>;
};

export function createProgress(output: Output, clock: Pick<Clock, 'now'>, env: Record<string, string | undefined> = process.env): Progress {
  const isLive = output.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  // Bytes, because the sequences in them are ours: as text they would be shown, not obeyed.
  const write = (text: string) => output.write(Buffer.from(text));
  const draw = (mark: string, name: string, text: string) => {
    const width = (output.columns || 100) - 1; // a terminal that does not know its size says 0
    return `  ${mark} ${name.padEnd(9)} ${text}`.slice(0, width);
  };
  return {
    async step(name, work) {
      const started = clock.now();
      const update = (text: string) => {
        if (isLive) write(`\r\x1b[2K\x1b[2m${draw('.', name, plainText(text))}\x1b[0m`);
      };
      update('');
      try {
        const result = await work({ update });
        const seconds = `${((clock.now() - started) / 1000).toFixed(1)}s`;
        write(
          `${isLive ? '\r\x1b[2K' : ''}  ${isLive ? '\x1b[32m✓\x1b[0m' : '✓'} ${name.padEnd(9)} ${escapeToOneLine(result).padEnd(60)} ${seconds}\n`,
        );
      } catch (error) {
        write(`${isLive ? '\r\x1b[2K' : ''}  ✗ ${name}\n`);
        throw error;
      }
    },
  };
}
