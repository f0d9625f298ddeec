/** Which sections of the documentation somebody means. Pure, and runs in a browser. */
export type Section = {
  /** File and heading. */
  readonly place: string;
  readonly title: string;
  readonly text: string;
};
export type FoundSection = Pick<Section, 'place' | 'title'> & {
  /** The words around what was looked for. */
  readonly excerpt: string;
};

const MOST = 30;
const [BEFORE, LENGTH] = [60, 200];

/** Those that have every word, or what begins with it; in their title counts for more than in their text, and a short section for more than a long one. */
export function findSections(sections: readonly Section[], typed: string): FoundSection[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8);
  if (words.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ section: { place, title, text } }) => ({ place, title, excerpt: excerptOf(text, words) }));
}

function scoreOf({ title, text }: Section, words: readonly string[]): number {
  const [head, body] = [title.toLowerCase(), text.toLowerCase()];
  let score = 1000 / (1000 + text.length);
  for (const word of words) {
    if (startsIn(head, word)) score += 10;
    else if (startsIn(body, word)) score += 2;
    else if (body.includes(word) || head.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

/** A word of the text begins with it. */
function startsIn(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return true;
  return false;
}

function excerptOf(text: string, words: readonly string[]): string {
  const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
  const from = Math.max(0, at - BEFORE);
  const part = text.slice(from, from + LENGTH);
  return `${from > 0 ? '… ' : ''}${part}${from + LENGTH < text.length ? ' …' : ''}`;
}
