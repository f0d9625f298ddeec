/** The help of a command for a terminal that is narrower than it. Pure. */
import { foldLine } from './fold-line.ts';

/** A flag, an argument or a command, the gap behind it, and what is said of it. */
const ROW = /^(?<what> {2,}(?:-\w)? *(?:\[?-[^ \]]*\]?(?:\.\.\.)?|[^ ]+))(?<gap> {2,})(?<text>\S.*)$/;
const HEADER = /^[A-Z][A-Z' ]*$/;
/** Where the words begin that have no room beside what they are about. */
const BELOW = 8;
const NARROWEST = 30;

/** The same words; examples go on as a shell takes them, descriptions under their column. */
export function foldHelp(help: string, columns: number): string {
  const folded: string[] = [];
  let section: string | undefined;
  const take = (line: string) => {
    if (HEADER.test(line)) section = line;
    else if (line === '') section = section === 'USAGE' ? undefined : section;
    if (section === 'USAGE' && /^ {2}\S/.test(line)) folded.push(foldExample(line, columns));
    else folded.push(section === undefined ? foldLine(line, { columns, indent: 0 }) : foldRow(line, columns));
  };
  for (const line of joinedProse(help.split('\n'), columns)) take(line);
  return folded.join('\n');
}

/** A paragraph is broken for a wider page: it is put together before it is broken again. */
function joinedProse(lines: readonly string[], columns: number): readonly string[] {
  const joined: string[] = [];
  let wasWide = false;
  for (const line of lines) {
    const isProse = /^[^\s]/.test(line) && !HEADER.test(line);
    if (wasWide && isProse) joined.push(`${joined.pop()} ${line}`);
    else joined.push(line);
    wasWide = isProse && line.length > columns;
  }
  return joined;
}

function foldRow(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const { what, gap = '', text } = ROW.exec(line)?.groups ?? {};
  const indent = line.length - line.trimStart().length;
  if (what === undefined || text === undefined) return foldLine(line, { columns, indent });
  // What a flag is by default stands in a column of its own, which nobody sees when lines are broken.
  const words = text.replaceAll(/ {2,}/g, ' ');
  const column = what.length + gap.length;
  if (columns - column >= NARROWEST) return foldLine(`${what}${gap}${words}`, { columns, indent: column });
  return `${what}\n${foldLine(`${' '.repeat(BELOW)}${words}`, { columns, indent: BELOW })}`;
}

/** Broken between words of the shell, with the sign that the command goes on. */
function foldExample(line: string, columns: number): string {
  const words = line.trim().match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  const lines: string[] = [];
  let current = ' ';
  for (const word of words) {
    if (`${current} ${word} \\`.length > columns && current.trim() !== '') {
      lines.push(`${current} \\`);
      current = `     `;
    }
    current = `${current} ${word}`;
  }
  return line.length <= columns ? line : [...lines, current].join('\n');
}
