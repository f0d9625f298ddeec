/** What stands on a terminal after a program has written to it: lines of coloured pieces. Knows what our own programs write, and no more. Pure. */

export type Piece = { readonly text: string; readonly style: readonly string[] };
export type Line = readonly Piece[];

const STYLES: Readonly<Record<string, string>> = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' };
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TOKENS = /\x1b\[([\d;?]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+/g;

export function linesOnTerminal(written: string): Line[] {
  const lines: Piece[][] = [[]];
  let style: string[] = [];
  let isOver = false;
  for (const [token, codes = '', letter] of written.matchAll(TOKENS)) {
    if (letter === 'm') style = nextStyle(style, codes);
    else if (letter === 'K') lines[lines.length - 1] = [];
    else if (letter !== undefined)
      continue; // hides and shows the cursor
    else if (token === '\r') isOver = true;
    else if (token === '\n') {
      lines.push([]);
      isOver = false;
    } else {
      if (isOver) lines[lines.length - 1] = [];
      isOver = false;
      lines.at(-1)?.push({ text: token, style });
    }
  }
  return lines;
}

function nextStyle(style: readonly string[], codes: string): string[] {
  return codes.split(';').reduce<string[]>(
    (now, code) => {
      if (code === '' || code === '0') return [];
      if (code === '22') return now.filter((name) => name !== 'bold' && name !== 'dim');
      if (code === '39') return now.filter((name) => name === 'bold' || name === 'dim');
      const name = STYLES[code];
      return name ? now.concat(name) : now;
    },
    [...style],
  );
}
