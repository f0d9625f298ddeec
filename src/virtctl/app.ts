/** virtctl: the commands as one application. Only the definition of the command that is called is loaded, so that the tool starts fast. */
import { type Application, buildApplication, buildRouteMap, FlagNotFoundError, type RouteMap, text_en } from '@stricli/core';
import type { Context } from './context.ts';
import { type Definition, HELP_GROUPS, type Help } from './define-command.ts';
import { exitCodeOf, renderError } from './failure.ts';
import { COMMANDS } from './generated/commands.ts';
import { unknownCommand } from './suggest-command.ts';
import { unsupported } from './unsupported-commands-table.ts';
import { wrongArguments } from './wrong-arguments.ts';

export type BuildOptions = {
  /** How the program was called. */
  readonly name?: string | undefined;
  /** The first word of the command line: when it names a command, the others are not needed. */
  readonly first?: string | undefined;
};

/** What is further away than this was not meant. */
const A_SLIP = { threshold: 2, weights: { insertion: 1, deletion: 1, substitution: 1, transposition: 1 } };

/** The application; `run` of @stricli/core executes it. */
export async function buildVirtctl({ name = 'virtctl', first }: BuildOptions = {}): Promise<Application<Context>> {
  const isWanted = ([word]: readonly string[]) => word === first || camelCase(word ?? '') === first;
  const wanted = COMMANDS.filter(({ words }) => isWanted(words));
  const entries = wanted.length > 0 ? wanted : COMMANDS;
  const loaded = await Promise.all(entries.map(async ({ words, load }) => ({ words, definition: await load() })));
  return buildApplication(routesUnder([], loaded, 'Virtual machines as Kubernetes objects, run by QEMU'), {
    name,
    scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true, distanceOptions: A_SLIP },
    documentation: { caseStyle: 'convert-camel-to-kebab', useAliasInUsageLine: true, onlyRequiredInUsageLine: true },
    localization: {
      text: {
        ...text_en,
        exceptionWhileRunningCommand: renderError,
        commandErrorResult: renderError,
        noCommandRegisteredForInput: ({ input, corrections }) =>
          unsupported('command', input) ??
          unknownCommand(
            input,
            corrections.map((name) => name.replaceAll('`', '')),
          ),
        exceptionWhileParsingArguments: (error, ansiColor) =>
          (error instanceof FlagNotFoundError ? unsupported('flag', error.input) : undefined) ??
          wrongArguments(text_en.exceptionWhileParsingArguments(error, ansiColor)),
      },
    },
    determineExitCode: exitCodeOf,
  });
}

type Loaded = { readonly words: readonly string[]; readonly definition: Definition };

function routesUnder(path: readonly string[], all: readonly Loaded[], brief: string): RouteMap<Context> {
  const children = all.filter(({ words }) => words.length === path.length + 1 && path.every((word, index) => word === words[index]));
  const routes = children.toSorted(byHelp).map(({ words, definition }) => {
    const target = 'command' in definition ? definition.command : routesUnder(words, all, definition.docs.brief);
    return [camelCase(words.at(-1) ?? ''), target] as const;
  });
  return buildRouteMap({ routes: Object.fromEntries(routes), docs: { brief } });
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
