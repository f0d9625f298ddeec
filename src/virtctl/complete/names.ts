/** Names that exist on the cluster, for a shell that completes a command line. */
import { NAMESPACES } from '../../api/core/namespace.ts';
import { NODES } from '../../api/core/node.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { KubeObject } from '../../api/meta.ts';
import { connect } from '../connect.ts';
import type { Context } from '../context.ts';
import type { Connection } from '../deps.ts';

/** A person waits for this with a finger on the key. */
const PATIENCE_MS = 1_000;

/** Machines whose name begins like this, in the namespace of the kubeconfig. */
export function vmNames(context: Context, partial: string): Promise<readonly string[]> {
  return namesOf(context, partial, ({ client, namespace }) => client.list(VMS, { namespace }));
}

/** The same, as `vm/NAME` and behind a user: what ssh and port-forward take. */
export async function targetNames(context: Context, partial: string): Promise<readonly string[]> {
  const user = /^[^@/]*@/.exec(partial)?.[0] ?? '';
  const kind = partial.startsWith(`${user}vmi/`) ? 'vmi' : 'vm';
  return (await vmNames(context, '')).map((name) => `${user}${kind}/${name}`).filter((target) => target.startsWith(partial));
}

/** Namespaces whose name begins like this. */
export function namespaceNames(context: Context, partial: string): Promise<readonly string[]> {
  return namesOf(context, partial, ({ client }) => client.list(NAMESPACES));
}

/** Nodes whose name begins like this. */
export function nodeNames(context: Context, partial: string): Promise<readonly string[]> {
  return namesOf(context, partial, ({ client }) => client.list(NODES));
}

type Ask = (connection: Connection) => Promise<{ readonly items: readonly KubeObject[] }>;

/** Without a cluster there are none: a completion never complains. */
async function namesOf({ home, version, process }: Context, partial: string, ask: Ask): Promise<readonly string[]> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('too late')), PATIENCE_MS).unref());
  try {
    const { items } = await Promise.race([ask(connect({ home, version, env: process.env, stderr: process.stderr }, {})), late]);
    return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(partial));
  } catch {
    return [];
  }
}
