/** The generated part of docs/typescript.md: which constant each kind is, and where it stands. */
import { withSection } from './generated-section.ts';
import type { KindFile } from './kind-files.ts';

/** The page with its table made anew. */
export function typescriptPage(page: string, kinds: readonly KindFile[]): string {
  const rows = kinds.map(({ record, constant, file }) => `| ${record.kind} | \`${constant}\` | \`${file}\` |\n`);
  return withSection(page, 'kinds', `| kind | Resource | in |\n|---|---|---|\n${rows.join('')}`);
}
