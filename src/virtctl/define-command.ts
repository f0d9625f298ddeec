/** How a command is defined: commands/NAME/definition.ts says how it is called, commands/NAME/run.ts is loaded when it is. */
import { type BaseArgs, buildCommand, type Command, type CommandBuilderArguments, type CommandFunction } from '@stricli/core';
import type { Context } from './context.ts';
import type { ClusterDeps, ConnectionFlags, Deps } from './deps.ts';

/** Parts of the first page of help, in this order. */
export const HELP_GROUPS = {
  embedded: 'Embedded cluster on this machine',
  machines: 'Virtual machines',
  guest: 'Inside a guest',
  network: 'Network',
  cluster: 'Kubernetes cluster',
  other: 'This program',
} as const;

export type Help = {
  /** The part of the first page; a command of a group is where its group is. */
  readonly group?: keyof typeof HELP_GROUPS;
  /** Smaller ones come first; equal ones by name. */
  readonly rank: number;
};

/** A command, unlike a group, does something. */
export type CommandHelp = Help & {
  /** What it does cannot be undone, or ends something: nobody is led to it by a word that was not it. */
  readonly harms: boolean;
};

export type CommandDefinition = { readonly help: CommandHelp; readonly command: Command<Context> };
export type GroupDefinition = { readonly help: Help; readonly docs: { readonly brief: string } };
export type Definition = CommandDefinition | GroupDefinition;

type Flags<FLAGS> = Readonly<Partial<Record<keyof FLAGS, unknown>>>;
/** A number that it resolves with is the exit code; whatever it throws is told to the user. */
type Run<DEPS, FLAGS, ARGS extends BaseArgs> = (deps: DEPS, flags: FLAGS, ...args: ARGS) => unknown;
type Options<DEPS, FLAGS extends Flags<FLAGS>, ARGS extends BaseArgs> = {
  readonly help: CommandHelp;
  readonly run: () => Promise<{ readonly run: Run<DEPS, FLAGS, ARGS> }>;
} & Pick<CommandBuilderArguments<FLAGS, ARGS, Context>, 'parameters' | 'docs'>;

/** A command that works without a cluster, or with one only at times. */
export function defineCommand<const FLAGS extends Flags<FLAGS> = NonNullable<unknown>, const ARGS extends BaseArgs = []>(
  options: Options<Deps, FLAGS, ARGS>,
): CommandDefinition {
  return define(options, async (context) => (await import('./deps-of-process.ts')).depsOf(context));
}

/** A command of a cluster, which it gets connected. */
export function defineClusterCommand<const FLAGS extends Flags<FLAGS> & ConnectionFlags, const ARGS extends BaseArgs = []>(
  options: Options<ClusterDeps, FLAGS, ARGS>,
): CommandDefinition {
  return define(options, async (context, flags) => (await import('./deps-of-process.ts')).clusterDepsOf(context, flags));
}

/** Commands under one word; each is a folder in the folder of the group. */
export function defineGroup(group: GroupDefinition): GroupDefinition {
  return group;
}

function define<DEPS, FLAGS extends Flags<FLAGS>, ARGS extends BaseArgs>(
  { help, run, parameters, docs }: Options<DEPS, FLAGS, ARGS>,
  depsOf: (context: Context, flags: FLAGS) => Promise<DEPS>,
): CommandDefinition {
  async function called(this: Context, flags: FLAGS, ...args: ARGS): Promise<void> {
    const [module, deps] = [await run(), await depsOf(this, flags)];
    const code = await module.run(deps, flags, ...args);
    if (typeof code === 'number') this.process.exitCode = code;
  }
  return { help, command: buildCommand<FLAGS, ARGS, Context>({ func: called as CommandFunction<FLAGS, ARGS, Context>, parameters, docs }) };
}
