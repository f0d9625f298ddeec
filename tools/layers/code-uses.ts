/** Which names from outside a piece of code uses. */

/** The patterns that are found as names of their own: not as a property, and not as the key of one. */
export function codeUses(code: string, names: readonly string[]): string[] {
  const pattern = new RegExp(`(?<![.\\w$]|\\.\\s+)(?:${names.join('|')})(?![\\w$])`, 'g');
  const found = [...code.matchAll(pattern)].filter(({ 0: name, index }) => !isKey(code, index, index + name.length));
  return [...new Set(found.map(([name]) => name))];
}

function isKey(code: string, start: number, end: number): boolean {
  return /(?:[{,;(]|\breadonly)\s*$/.test(code.slice(Math.max(0, start - 40), start)) && /^\s*\??:/.test(code.slice(end, end + 10));
}
