/**
 * Compares what a command printed with what a transcript expects. Columns may be wider or narrower: a run of blanks inside a line counts
 * as one. In an expected line
 *
 *     ...          alone in its line: any lines, or none
 *     <any>        any text, also none
 *     <age>        a time span as kubectl prints it: 15s, 4m2s, 9s (x2 over 1m)
 *     <uid>        a UUID
 *     <any:NAME>   as above, and remembered: wherever NAME stands again, the text has to be the same. So <uid:NAME>
 *
 * Anything else, `<none>` included, stands for itself.
 */

/** Texts that placeholders with a name stood for. */
export type Names = Readonly<Record<string, string>>;
export type Match = { readonly isMatch: true; readonly names: Names } | { readonly isMatch: false; readonly difference: string };

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  any: '.*?',
  age: String.raw`\d[0-9a-z]*(?: \(x\d+ over \w+\))?`,
  uid: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
};
const PLACEHOLDER = /<(any|age|uid)(?::(\w+))?>/g;
const GAP = '...';

/** Whether the output is as expected; if not, both beside each other. */
export function matchOutput(expected: readonly string[], output: string, known: Names = {}): Match {
  const wanted = expected.map(narrow);
  const printed = output.split('\n').map(narrow);
  while (printed.at(-1) === '') printed.pop();
  const alignment = align(wanted, printed, known);
  const names = { ...known };
  const difference: string[] = [];
  let isMatch = true;
  for (const pair of alignment) {
    const found = pair.printed === undefined || pair.wanted === undefined ? undefined : compare(pair.wanted, pair.printed, names);
    if (found) Object.assign(names, found);
    else if (!isFree(pair)) isMatch = false;
    difference.push(...show(pair, found !== undefined));
  }
  return isMatch ? { isMatch, names } : { isMatch, difference: difference.join('\n') };
}

/** A line that was wanted beside the one that was printed; a missing side is a line too many or too few. */
type Pair = { readonly wanted?: string; readonly printed?: string; readonly isInGap?: boolean };

function isFree({ wanted, isInGap }: Pair): boolean {
  return isInGap === true || wanted?.trim() === GAP;
}

/** The alignment with the fewest lines too many or too few; what a gap takes in is free. */
function align(wanted: readonly string[], printed: readonly string[], known: Names): Pair[] {
  const costs = new Map<number, number>();
  const isGap = (index: number) => wanted[index]?.trim() === GAP;
  const matches = (w: number, p: number) => !isGap(w) && compare(wanted[w] ?? '', printed[p] ?? '', known) !== undefined;
  const at = (w: number, p: number) => w * (printed.length + 1) + p;
  const cost = (w: number, p: number) => costs.get(at(w, p)) ?? Number.POSITIVE_INFINITY;
  for (let w = wanted.length; w >= 0; w--) {
    for (let p = printed.length; p >= 0; p--) {
      const isLast = w === wanted.length && p === printed.length;
      const both = w < wanted.length && p < printed.length && matches(w, p) ? cost(w + 1, p + 1) : Number.POSITIVE_INFINITY;
      const extra = p < printed.length ? cost(w, p + 1) + (isGap(w) ? 0 : 1) : Number.POSITIVE_INFINITY;
      const missing = w < wanted.length ? cost(w + 1, p) + (isGap(w) ? 0 : 1) : Number.POSITIVE_INFINITY;
      costs.set(at(w, p), isLast ? 0 : Math.min(both, extra, missing));
    }
  }
  const pairs: Pair[] = [];
  let w = 0;
  let p = 0;
  while (w < wanted.length || p < printed.length) {
    const now = cost(w, p);
    if (w < wanted.length && p < printed.length && matches(w, p) && cost(w + 1, p + 1) === now) {
      pairs.push({ wanted: wanted[w++], printed: printed[p++] });
    } else if (w < wanted.length && cost(w + 1, p) + (isGap(w) ? 0 : 1) === now) pairs.push({ wanted: wanted[w++] });
    else pairs.push({ printed: printed[p++], isInGap: isGap(w) });
  }
  return pairs;
}

function show(pair: Pair, isSame: boolean): string[] {
  const { wanted, printed } = pair;
  if (isSame) return [`    ${printed}`];
  if (isFree(pair)) return wanted === undefined ? [`  . ${printed}`] : [];
  return [...(wanted === undefined ? [] : [`  - ${wanted}`]), ...(printed === undefined ? [] : [`  + ${printed}`])];
}

/** The names that the line gives, or undefined when it is another line. */
function compare(wanted: string, printed: string, known: Names): Names | undefined {
  const names: string[] = [];
  let source = '';
  let end = 0;
  for (const found of wanted.matchAll(PLACEHOLDER)) {
    const [whole, kind = '', name] = found;
    source += literal(wanted.slice(end, found.index));
    end = found.index + whole.length;
    const pattern = PLACEHOLDERS[kind] ?? '';
    if (name === undefined) source += `(?:${pattern})`;
    else if (known[name] !== undefined) source += literal(known[name]);
    else if (names.includes(name)) source += `\\k<${name}>`;
    else {
      names.push(name);
      source += `(?<${name}>${pattern})`;
    }
  }
  const match = new RegExp(`^${source}${literal(wanted.slice(end))}$`).exec(printed);
  return match ? Object.fromEntries(names.map((name) => [name, match.groups?.[name] ?? ''])) : undefined;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Indentation is structure and stays. */
function narrow(line: string): string {
  return line.trimEnd().replace(/(\S)[ \t]+/g, '$1 ');
}
