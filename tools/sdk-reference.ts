/** The reference of the SDK in docs/typescript.md: what its entries export, word for word as it stands in the sources, with what is said of each call. */
import { readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const EXPORTS = 'src/sdk/exports.ts';
/** How to reach a cluster, and what parts of the types above are made of: they are not exported under names of their own. */
const BESIDE: readonly (readonly [title: string, file: string, name: string])[] = [
  ['`connect` in Node', 'src/sdk/node/index.ts', 'ConnectOptions'],
  ['`connect` in a browser', 'src/sdk/browser/index.ts', 'ConnectOptions'],
];
const PARTS: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  Machine: [['src/sdk/machine-actions.ts', 'MachineActions']],
};

/** A heading and the declaration of each. */
export function sdkReference(): string {
  const exported = exportsIn(textOf(EXPORTS)).flatMap(({ name, file }) => [
    { title: `\`${name}\``, file, name },
    ...(PARTS[name] ?? []).map(([of, part]) => ({ title: `\`${part}\`, which a \`${name}\` has`, file: of, name: part })),
  ]);
  const all = [...BESIDE.map(([title, file, name]) => ({ title, file, name })), ...exported];
  return all.map(({ title, file, name }) => `### ${title}\n\n\`\`\`ts\n${declarationOf(textOf(file), name)}\n\`\`\`\n`).join('\n');
}

/** Types that the SDK itself declares; kinds, errors and the client have pages of their own. */
function exportsIn(text: string): { readonly name: string; readonly file: string }[] {
  return [...text.matchAll(/^export (type )?\{([^}]*)\} from '(\.\/[^']+)';$/gm)].flatMap(([, areTypes, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => areTypes !== undefined || name.startsWith('type '))
      .map((name) => ({ name: name.replace(/^type /, ''), file: posix.join(posix.dirname(EXPORTS), from) })),
  );
}

/** With what is said of it; ends at the first line that ends it. */
export function declarationOf(text: string, name: string): string {
  const [found] =
    new RegExp(
      `^(?:/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?export type ${name}\\b[^]*?;$(?=\\n(?:\\n|export|type|const|/\\*\\*|(?![^])))`,
      'm',
    ).exec(text) ?? [];
  if (found === undefined) throw new Error(`there is no type ${name}`);
  return found;
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
