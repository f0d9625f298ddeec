import { escapeToOneLine } from '../base/escape-unprintable.ts';
import { foldLine } from './fold-line.ts';

type Look = {
  /** Gets a cell as it was and as it stands. */
  readonly paint?: (cell: string, shown: string, row: number) => string;
  /** Of the terminal: words of the last column continue beneath it, where there is room for them. */
  readonly columns?: number | undefined;
};

/** Columns for people: as wide as their widest cell, two spaces apart, nothing behind the last. */
export function renderTable(table: readonly (readonly string[])[], { paint = (_, shown) => shown, columns }: Look = {}): string {
  const rows = table.map((row) => row.map(escapeToOneLine));
  const widths: number[] = [];
  for (const row of rows) for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows
    .map((row, index) => {
      const shown = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
      const before = shown.slice(0, -1).join('  ').length;
      const last = folded(shown.at(-1) ?? '', { columns, indent: before === 0 ? 0 : before + 2 });
      return row.map((cell, column) => paint(cell, column === row.length - 1 ? last : (shown[column] ?? ''), index)).join('  ');
    })
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function folded(cell: string, { columns, indent }: { readonly columns: number | undefined; readonly indent: number }): string {
  return foldLine(`${' '.repeat(indent)}${cell}`, { columns, indent }).slice(indent);
}

/** Without the columns in which nothing is. */
export function withoutEmptyColumns(table: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const [header = [], ...rows] = table;
  const isUsed = header.map((_, column) => rows.some((row) => (row[column] ?? '') !== ''));
  return table.map((row) => row.filter((_, column) => isUsed[column]));
}
