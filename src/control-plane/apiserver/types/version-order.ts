/** Which version of a group comes first: stable before beta before alpha, newer before older, oddly named ones last. */

const RANK = { '': 2, beta: 1, alpha: 0 } as const;
const GRAMMAR = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Sorts the version a client should prefer first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  for (let i = 0; i < left.length; i += 1) {
    const difference = (right[i] ?? 0) - (left[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function partsOf(version: string): number[] | undefined {
  const match = GRAMMAR.exec(version);
  if (!match) return undefined;
  const stage = (match[2] ?? '') as keyof typeof RANK; // the grammar allows nothing else
  return [RANK[stage], Number(match[1]), Number(match[3] ?? 0)];
}
