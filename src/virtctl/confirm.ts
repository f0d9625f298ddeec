/** A question to whoever sits at the terminal. */
import { createInterface } from 'node:readline';
import type { Deps } from './deps.ts';

/** True when somebody sees the question and can answer it. */
export function canAsk({ stdin, stdout }: Pick<Deps, 'stdin' | 'stdout'>): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

/** True for `yes` alone: whoever only presses Enter, or leaves, has not agreed. */
export async function confirm({ stdin, stderr }: Pick<Deps, 'stdin' | 'stderr'>, question: string): Promise<boolean> {
  stderr.write(`${question} Type yes to continue: `);
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    for await (const line of lines) return line.trim().toLowerCase() === 'yes';
    return false;
  } finally {
    lines.close();
    stdin.pause();
  }
}
