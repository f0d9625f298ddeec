/** What the supervisor wrote down about an embedded process that died of itself. */
import { readFileSync } from 'node:fs';
import { restartsPath } from './paths.ts';

export type Restarts = { readonly count: number; readonly lastAt: string; readonly because: string };

/** How often the cluster was started again since the last `up`; undefined when never. */
export function restartsOf(home: string): Restarts | undefined {
  const [, count, lastAt = '', because = ''] = /^(\d+) (\S+) (.*)$/m.exec(textOf(restartsPath(home))) ?? [];
  return count === undefined ? undefined : { count: Number(count), lastAt, because };
}

/** A number of restarts in words. */
export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the usual case
  }
}
