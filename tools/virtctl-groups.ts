/** The commands of virtctl in the groups of its first page, for what is generated. */
import { buildVirtctl } from '../src/virtctl/app.ts';
import { propose } from '../src/virtctl/complete/propose.ts';
import type { Context } from '../src/virtctl/context.ts';
import { HELP_GROUPS } from '../src/virtctl/define-command.ts';
import { COMMANDS } from '../src/virtctl/generated/commands.ts';

type Group = { readonly title: string; readonly commands: readonly { readonly name: string; readonly brief: string }[] };

/** In the order of the first page. */
export async function commandsByGroup(): Promise<readonly Group[]> {
  const lines = (await propose(await buildVirtctl(), [''], {} as Context)).trimEnd().split('\n');
  const groupOf = new Map(
    await Promise.all(COMMANDS.map(async ({ words, load }) => [words.join(' '), (await load()).help.group] as const)),
  );
  const all = lines.map((line) => {
    const [name = '', brief = ''] = line.split('\t');
    return { name, brief, group: groupOf.get(name) };
  });
  return Object.entries(HELP_GROUPS).map(([key, title]) => ({ title, commands: all.filter(({ group }) => group === key) }));
}
