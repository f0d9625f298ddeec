/** The generated parts of docs/typescript.md: the types of the SDK, which constant each kind is, and where it stands. */
import { withSection } from './generated-section.ts';
import type { KindFile } from './kind-files.ts';
import { sdkReference } from './sdk-reference.ts';

/** The page with its tables made anew. */
export function typescriptPage(page: string, kinds: readonly KindFile[]): string {
  const rows = kinds.map(({ record, constant, file }) => `| ${record.kind} | \`${constant}\` | \`${file}\` |\n`);
  const withKinds = withSection(page, 'kinds', `| kind | Resource | in |\n|---|---|---|\n${rows.join('')}`);
  return withSection(withKinds, 'sdk', sdkReference());
}
