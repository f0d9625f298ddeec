/** What differs between two texts, line by line, as it is shown. Pure. */
import { escapeUnprintable } from '../base/escape-unprintable.ts';

export type DiffLine = { readonly sign: ' ' | '-' | '+' | '…'; readonly text: string };

/** Lines that are kept around what differs. */
const AROUND = 3;
/** Beyond, the middle is shown as gone and come: comparing each line with each has a price. */
const MOST_CELLS = 1_000_000;

/** Empty when they are the same. */
export function deriveDiff(before: string, after: string): DiffLine[] {
  if (before === after) return [];
  const linesOf = (text: string) => escapeUnprintable(text).split('\n');
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: ' ', text }));
  const middle = compared(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return shortened([...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))]);
}

/** By the longest common sequence of lines. */
function compared(a: readonly string[], b: readonly string[]): DiffLine[] {
  const gone = (text: string): DiffLine => ({ sign: '-', text });
  const come = (text: string): DiffLine => ({ sign: '+', text });
  if (a.length * b.length > MOST_CELLS) return [...a.map(gone), ...b.map(come)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left = '', right = ''] = [a[i], b[j]];
    if (i < a.length && j < b.length && left === right) {
      found.push({ sign: ' ', text: left });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      found.push(gone(left));
      i += 1;
    } else {
      found.push(come(right));
      j += 1;
    }
  }
  return found;
}

/** Only the neighbourhood of what differs. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  for (const [index, { sign }] of lines.entries())
    if (sign !== ' ') for (let each = index - AROUND; each <= index + AROUND; each++) near.add(each);
  return lines.flatMap((line, index): DiffLine[] => {
    if (near.has(index)) return [line];
    return near.has(index - 1) || index === 0 ? [{ sign: '…', text: '' }] : [];
  });
}
