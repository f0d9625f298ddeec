import { escapeToOneLine } from '../base/escape-unprintable.ts';

/** Columns for people: as wide as their widest cell, two spaces apart, nothing behind the last. */
export function renderTable(table: readonly (readonly string[])[]): string {
  const rows = table.map((row) => row.map(escapeToOneLine));
  const widths: number[] = [];
  for (const row of rows) for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
