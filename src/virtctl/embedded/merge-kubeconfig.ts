/** The user's kubeconfig with a context of ours in it. What is there stays, in its words and its comments; a name that is somebody else's is not taken. Pure. */
import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { UserError } from '../../base/errors.ts';

type Entry = { readonly name: string } & Readonly<Record<string, unknown>>;
export type Kubeconfig = {
  readonly 'current-context': string;
  readonly clusters: readonly Entry[];
  readonly contexts: readonly { readonly name: string; readonly context: Readonly<Record<string, unknown>> }[];
  readonly users: readonly Entry[];
};

/** Every entry of ours has this name; a second cluster of the same user has another. */
export const CONTEXT = 'kubevirt-ts';

export type Merged = { readonly text: string /** Our context is the one that is used without `--context`. */; readonly isCurrent: boolean };

/** The whole file; an empty `text` begins one. Entries that we wrote earlier are renewed: they have the address of our server, or our data folder's mark. */
export function mergeKubeconfig(text: string, ours: Kubeconfig, home: string): Merged {
  const document = parseDocument(text);
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents)))
    throw new UserError('KUBECONFIG_DAMAGED', 'the kubeconfig cannot be read, and nothing was written to it', {
      why: document.errors[0]?.message ?? 'it is not a map',
      fix: 'fix it, or use export KUBECONFIG=$(virtctl kubeconfig)',
    });
  if (document.contents === null) document.contents = document.createNode({ apiVersion: 'v1', kind: 'Config' }) as never; // a map, as the type of a document wants
  const mayRenew = isOurs(document, home);
  const [cluster] = ours.clusters;
  const [user] = ours.users;
  const namespace = ours.contexts[0]?.context['namespace'];
  const mark = { extensions: [{ name: CONTEXT, extension: { home } }] };
  put(document, 'clusters', { ...cluster, name: CONTEXT, cluster: { ...(cluster?.['cluster'] as object), ...mark } }, mayRenew);
  put(document, 'users', { ...user, name: CONTEXT }, mayRenew);
  put(document, 'contexts', { name: CONTEXT, context: { cluster: CONTEXT, user: CONTEXT, namespace, ...mark } }, mayRenew);
  if (!document.get('current-context')) document.set('current-context', CONTEXT);
  return { text: document.toString({ lineWidth: 0 }), isCurrent: document.get('current-context') === CONTEXT };
}

const LISTS = ['clusters', 'users', 'contexts'] as const;
const OURS_ALONE: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'preferences', 'current-context', ...LISTS]);

/** The file without what `mergeKubeconfig` put there for this data folder; empty when nothing else is in it, undefined when nothing of ours is. */
export function withoutOurContext(text: string, home: string): string | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents) || !isOurs(document, home)) return undefined;
  let others = document.contents.items.filter(({ key }) => !OURS_ALONE.has(String(key))).length;
  for (const name of LISTS) {
    const list = document.get(name);
    if (!isSeq(list)) continue;
    list.items = list.items.filter((item) => !(isMap(item) && item.get('name') === CONTEXT));
    others += list.items.length;
  }
  if (document.get('current-context') === CONTEXT) document.delete('current-context');
  return others === 0 ? '' : document.toString({ lineWidth: 0 });
}

function put(document: Document, list: (typeof LISTS)[number], entry: Entry, mayRenew: boolean): void {
  const existing = document.get(list);
  const items = isSeq(existing) ? existing : undefined;
  const index = items?.items.findIndex((item) => isMap(item) && item.get('name') === entry.name) ?? -1;
  if (!items) document.set(list, document.createNode([entry]));
  else if (index < 0) items.add(document.createNode(entry));
  else if (mayRenew) items.set(index, document.createNode(entry));
  else
    throw new UserError('CONTEXT_TAKEN', `the kubeconfig has a ${list.slice(0, -1)} ${entry.name} already, of another cluster`, {
      why: 'what is there is never overwritten',
      fix: 'kubectl config rename-context, or use export KUBECONFIG=$(virtctl kubeconfig)',
      exitCode: 4,
    });
}

/** Our entries carry the data folder that they are of: looked up in the cluster. */
function isOurs(document: Document, home: string): boolean {
  const clusters = document.get('clusters');
  const found = isSeq(clusters) ? clusters.items.find((item): item is YAMLMap => isMap(item) && item.get('name') === CONTEXT) : undefined;
  const marks = found?.toJSON()?.cluster?.extensions as { name?: string; extension?: { home?: string } }[] | undefined;
  return marks?.some(({ name, extension }) => name === CONTEXT && extension?.home === home) ?? false;
}
