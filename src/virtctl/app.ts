/** virtctl: the commands as one application. Only the definition of the command that is called is loaded, so that the tool starts fast. */
import { type Application, buildApplication, buildRouteMap, type Command, FlagNotFoundError, type RouteMap, text_en } from '@stricli/core';
import type { Context } from './context.ts';
import { type Definition, HELP_GROUPS, type Help } from './define-command.ts';
import { exitCodeOf, renderError, withPlainHelp } from './failure.ts';
import { foldHelp } from './fold-help.ts';
import { COMMANDS } from './generated/commands.ts';
import { unknownCommand, unknownFlag } from './suggest-command.ts';
import { unsupported } from './unsupported-commands-table.ts';
import { wrongArguments } from './wrong-arguments.ts';

export type BuildOptions = {
  /** How the program was called. */
  readonly name?: string | undefined;
  /** The first word of the command line: when it names a command, the others are not needed. */
  readonly first?: string | undefined;
  /** Of the terminal that help is read on; undefined where nobody knows. */
  readonly columns?: number | undefined;
};

/** What is further away than this was not meant. */
const A_SLIP = { threshold: 2, weights: { insertion: 1, deletion: 1, substitution: 1, transposition: 1 } };

/** The application; `run` of @stricli/core executes it. */
export async function buildVirtctl({ name = 'virtctl', first, columns }: BuildOptions = {}): Promise<Application<Context>> {
  const isWanted = ([word]: readonly string[]) => word === first || camelCase(word ?? '') === first;
  const wanted = COMMANDS.filter(({ words }) => isWanted(words));
  const entries = wanted.length > 0 ? wanted : COMMANDS;
  const loaded = await Promise.all(entries.map(async ({ words, load }) => ({ words, definition: await load() })));
  const group = wanted.length > 0 ? first : undefined;
  const harmful = harmfulNames(group, loaded);
  return buildApplication(routesUnder([], loaded, { brief: 'Virtual machines as Kubernetes objects, run by QEMU', columns }), {
    name,
    scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true, distanceOptions: A_SLIP },
    documentation: { caseStyle: 'convert-camel-to-kebab', useAliasInUsageLine: true, onlyRequiredInUsageLine: true },
    localization: {
      text: {
        ...text_en,
        exceptionWhileRunningCommand: renderError,
        commandErrorResult: renderError,
        noCommandRegisteredForInput: ({ input, corrections, ansiColor }) =>
          withPlainHelp(
            unsupported('command', input) ??
              unknownCommand(input, { group, names: corrections.map((name) => name.replaceAll('`', '')), harmful }),
            ansiColor,
          ),
        exceptionWhileParsingArguments: (error, ansiColor) =>
          withPlainHelp(notUnderstood(error) ?? wrongArguments(text_en.exceptionWhileParsingArguments(error, ansiColor)), ansiColor),
      },
    },
    determineExitCode: exitCodeOf,
  });
}

/** Of a flag that the command does not have. */
function notUnderstood(error: unknown): string | undefined {
  if (!(error instanceof FlagNotFoundError) || error.aliasName !== undefined) return undefined;
  return unsupported('flag', error.input) ?? unknownFlag(error.input, error.corrections);
}

type Page = { readonly brief: string; readonly columns: number | undefined };
export type Loaded = { readonly words: readonly string[]; readonly definition: Definition };

/** Of what is loaded: the commands of that group, or those that stand alone. */
export function harmfulNames(group: string | undefined, loaded: readonly Loaded[]): ReadonlySet<string> {
  const depth = group === undefined ? 1 : 2;
  const harmful = loaded.filter(({ words, definition: { help } }) => words.length === depth && 'harms' in help && help.harms);
  return new Set(harmful.map(({ words }) => words.at(-1) ?? ''));
}

function routesUnder(path: readonly string[], all: readonly Loaded[], { brief, columns }: Page): RouteMap<Context> {
  const children = all.filter(({ words }) => words.length === path.length + 1 && path.every((word, index) => word === words[index]));
  const routes = children.toSorted(byHelp).map(({ words, definition }) => {
    const target =
      'command' in definition ? folded(definition.command, columns) : routesUnder(words, all, { brief: definition.docs.brief, columns });
    return [camelCase(words.at(-1) ?? ''), target] as const;
  });
  return folded(buildRouteMap({ routes: Object.fromEntries(routes), docs: { brief } }), columns);
}

/** Its help as wide as the terminal, without slanted words: they would be counted. */
function folded<Target extends RouteMap<Context> | Command<Context>>(target: Target, columns: number | undefined): Target {
  if (columns === undefined) return target;
  return {
    ...target,
    formatHelp: (args: Parameters<Target['formatHelp']>[0]) => foldHelp(target.formatHelp({ ...args, ansiColor: false }), columns),
  };
}

const GROUPS = Object.keys(HELP_GROUPS);

function byHelp({ definition: { help: a } }: Loaded, { definition: { help: b } }: Loaded): number {
  const groupOf = ({ group }: Help) => (group ? GROUPS.indexOf(group) : 0);
  return groupOf(a) - groupOf(b) || a.rank - b.rank;
}

/** The library writes words of several parts in its own way, and shows them as ours. */
function camelCase(word: string): string {
  return word.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
