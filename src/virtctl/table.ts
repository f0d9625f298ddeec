import { escapeToOneLine } from '../base/escape-unprintable.ts';

/** Columns for people: as wide as their widest cell, two spaces apart, nothing behind the last. `paint` gets a cell as it was and as it stands. */
export function renderTable(
  table: readonly (readonly string[])[],
  paint: (cell: string, shown: string, row: number) => string = (_, shown) => shown,
): string {
  const rows = table.map((row) => row.map(escapeToOneLine));
  const widths: number[] = [];
  for (const row of rows) for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows
    .map((row, index) =>
      row.map((cell, column) => paint(cell, column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0), index)).join('  '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
