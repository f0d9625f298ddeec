/** Flags and arguments that several commands share. */
import { numberParser } from '@stricli/core';
import type { Context } from './context.ts';

export const text = { kind: 'parsed', parse: String } as const;
export const optionalText = { ...text, optional: true } as const;

/** A flag that is off unless it is given. */
export function off(brief: string) {
  return { kind: 'boolean', brief, default: false, withNegated: false } as const;
}

export const connection = {
  namespace: {
    ...text,
    brief: 'Namespace of the machine (default: the one of the kubeconfig, or "default")',
    optional: true,
    placeholder: 'name',
    async proposeCompletions(this: Context, partial: string): Promise<readonly string[]> {
      return (await import('./complete/names.ts')).namespaceNames(this, partial);
    },
  },
  kubeconfig: {
    ...text,
    brief: 'Kubeconfig file (default: $KUBECONFIG, else the embedded cluster, else ~/.kube/config)',
    optional: true,
    placeholder: 'file',
  },
  context: { ...text, brief: 'Context of the kubeconfig (default: its current one)', optional: true, placeholder: 'name' },
  verbosity: {
    kind: 'parsed',
    parse: numberParser,
    brief: 'From 6 on, say each request to the server and its answer on stderr',
    optional: true,
    placeholder: 'level',
  },
} as const;
export const connectionAliases = { n: 'namespace', v: 'verbosity' } as const;

export const dryRun = off('Let the server check the request without carrying it out');

/** Names of machines, for words that are more than one. */
export const proposeVms = {
  async proposeCompletions(this: Context, partial: string): Promise<readonly string[]> {
    return (await import('./complete/names.ts')).vmNames(this, partial);
  },
} as const;

/** One machine, by name; names of real ones are proposed to a shell that completes. */
export const machine = {
  kind: 'array',
  minimum: 1,
  parameter: {
    ...text,
    brief: 'Name of the machine; `vm NAME` is understood too',
    placeholder: 'NAME',
    ...proposeVms,
  },
} as const;

/** One or more of them. */
export const machines = {
  ...machine,
  parameter: { ...machine.parameter, brief: 'Names of one or more machines; `vm NAME` is understood too' },
} as const;

/** The one of them that ssh and port-forward take: `vm/NAME`. */
export const proposeTargets = {
  async proposeCompletions(this: Context, partial: string): Promise<readonly string[]> {
    return (await import('./complete/names.ts')).targetNames(this, partial);
  },
} as const;
