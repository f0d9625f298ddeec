/** The one edge between commands and this process: its streams, its signals, and the cluster that a kubeconfig names. */
import { systemClock } from '../base/clock.ts';
import type { Context } from './context.ts';
import type { ClusterDeps, ConnectionFlags, Deps } from './deps.ts';
import { harmlessOutput } from './harmless-output.ts';

export function depsOf(context: Context): Deps {
  const { process, ...places } = context;
  const { stdin, env } = process;
  // What another program reads is data and stays what it is; what is said on stderr is for people wherever it ends.
  const stdout = process.stdout.isTTY ? harmlessOutput(process.stdout) : process.stdout;
  const stderr = harmlessOutput(process.stderr);
  return {
    ...places,
    stdin,
    stdout,
    stderr,
    env,
    workingFolder: process.cwd(),
    clock: systemClock,
    signal: new AbortController().signal, // the end of the program does it
    connect: async (flags) => (await import('./connect.ts')).connect({ ...places, env, stderr }, flags),
    onSignal: (signal, act) => {
      process.on(signal, act);
      return () => process.off(signal, act);
    },
    exit: (code) => process.exit(code),
  };
}

/** The same, with the cluster that the flags name. */
export async function clusterDepsOf(context: Context, flags: ConnectionFlags): Promise<ClusterDeps> {
  const deps = depsOf(context);
  return { ...deps, ...(await deps.connect(flags)) };
}
