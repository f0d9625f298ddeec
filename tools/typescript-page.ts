/** The generated part of docs/typescript.md: which constant each kind is, and where it stands. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { KINDS } from '../src/api/kubevirt/kinds-table.ts';
import { withSection } from './generated-section.ts';

const FOLDER = 'src/api/kubevirt/kinds';

/** The page with its table made anew. */
export async function typescriptPage(page: string): Promise<string> {
  const root = join(import.meta.dirname, '..');
  const files = readdirSync(join(root, FOLDER)).filter((name) => !/(-schema|-table|\.test)\.ts$/.test(name));
  const found = await Promise.all(
    files.map(async (file) =>
      Object.entries<unknown>(await import(join(root, FOLDER, file))).map(([name, value]) => ({ file, name, value })),
    ),
  );
  const rows = KINDS.map((record) => {
    const at = found.flat().find(({ value }) => value === record);
    if (!at) throw new Error(`${FOLDER}: no file has the record of ${record.kind}`);
    return `| ${record.kind} | \`${at.name}\` | \`${FOLDER}/${at.file}\` |\n`;
  });
  return withSection(page, 'kinds', `| kind | Resource | in |\n|---|---|---|\n${rows.join('')}`);
}
