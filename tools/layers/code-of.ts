/** What a file runs, without what it says: comments are gone, and texts and patterns are empty unless they are asked for. */

type Scanned = { readonly code: string; readonly end: number };

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const TEXT = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y;
const PATTERN = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*\/[a-z]*/y;
/** A slash after one of these begins a pattern; after anything else it divides. */
const BEFORE_PATTERN = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|yield|await))\s*$/;

/** The code of a source, with the expressions inside its templates. */
export function codeOf(source: string, { keepTexts = false } = {}): string {
  return scan(source, { start: 0, isInTemplate: false, keepTexts }).code;
}

type Options = { readonly start: number; readonly isInTemplate: boolean; readonly keepTexts: boolean };

/** Until the end, or until the brace that ends an expression inside a template. */
function scan(source: string, { start, isInTemplate, keepTexts }: Options): Scanned {
  const parts: string[] = [];
  let tail = '';
  let at = start;
  let depth = 0;
  const take = ({ code, end }: Scanned) => {
    parts.push(code);
    tail = (tail + code).slice(-20);
    at = end;
  };
  while (at < source.length) {
    const special = specialAt(source, { at, tail, keepTexts });
    if (special) {
      take(special);
      continue;
    }
    const character = source[at] ?? '';
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (isInTemplate && depth < 0) return { code: parts.join(''), end: at + 1 };
    take({ code: character, end: at + 1 });
  }
  return { code: parts.join(''), end: at };
}

type Place = { readonly at: number; readonly tail: string; readonly keepTexts: boolean };

/** A comment, a text, a template or a pattern that begins here. */
function specialAt(source: string, { at, tail, keepTexts }: Place): Scanned | undefined {
  const first = source[at];
  if (first === '`') return scanTemplate(source, at + 1, keepTexts);
  if (first === "'" || first === '"') return matchAt(source, { pattern: TEXT, at, ...(!keepTexts && { code: `${first}${first}` }) });
  if (first !== '/') return undefined;
  const isPattern = BEFORE_PATTERN.test(tail);
  return (
    matchAt(source, { pattern: COMMENT, at, code: ' ' }) ?? (isPattern ? matchAt(source, { pattern: PATTERN, at, code: '/./' }) : undefined)
  );
}

function matchAt(source: string, { pattern, at, code }: { pattern: RegExp; at: number; code?: string }): Scanned | undefined {
  pattern.lastIndex = at;
  const found = pattern.exec(source)?.[0];
  return found === undefined ? undefined : { code: code ?? found, end: at + found.length };
}

/** A template is its expressions, each in brackets. */
function scanTemplate(source: string, start: number, keepTexts: boolean): Scanned {
  let code = '``';
  let at = start;
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') at += 2;
    else if (source.startsWith('${', at)) {
      const inner = scan(source, { start: at + 2, isInTemplate: true, keepTexts });
      code += `+(${inner.code})`;
      at = inner.end;
    } else at += 1;
  }
  return { code, end: at + 1 };
}
