/** A line for a terminal that is narrower than it: broken between words, continued under its text. Pure. */
export type Fold = {
  /** Columns of the terminal; undefined or 0 where nobody knows: then nothing is broken. */ readonly columns:
    | number
    | undefined /** Where continued lines begin. */;
  readonly indent: number;
};

/** The lines, without the last line break. A word that is longer than a line is left whole: it may be a path or an address to copy. */
export function foldLine(line: string, { columns, indent }: Fold): string {
  if (!columns || line.length <= columns || columns - indent < 20) return line;
  const lines: string[] = [];
  let current = '';
  for (const word of line.slice(indent).split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current !== '' && indent + longer.length > columns) {
      lines.push(current);
      current = word;
    } else current = longer;
  }
  lines.push(current);
  return line.slice(0, indent) + lines.join(`\n${' '.repeat(indent)}`);
}
