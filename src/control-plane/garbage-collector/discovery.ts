/** Which kinds the server has, as it tells itself: the garbage collector minds every kind there is. */
import type { Resource } from '../../api/resource.ts';
import type { Client } from '../../client/client.ts';

export type Discovered = {
  readonly resources: readonly Resource[];
  /** Groups that did not answer (an aggregated server that is down); what was known of them still holds. */
  readonly silentGroups: readonly string[];
};

type Group = {
  readonly name: string;
  readonly versions?: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
};
type GroupList = { readonly groups: readonly Group[] };
type ResourceList = {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
};

const NEEDED_VERBS = ['list', 'watch', 'delete', 'patch'];

/** Every kind that can be watched and deleted, once: in the preferred version of its group, or in another when it is not there. */
export async function discover(client: Client, signal: AbortSignal): Promise<Discovered> {
  const { groups } = (await read(client, '/apis', signal)) as GroupList;
  const versions = [
    { group: '', version: 'v1' },
    ...groups.flatMap((group) => versionsOf(group).map((version) => ({ group: group.name, version }))),
  ];
  const answers = await Promise.allSettled(versions.map((each) => discoverVersion(client, each, signal)));
  const core = answers[0];
  if (core?.status === 'rejected') throw core.reason;
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const isFirst = (each: Resource, index: number) =>
    found.findIndex(({ group, plural }) => group === each.group && plural === each.plural) === index;
  const silent = versions.filter((_, index) => answers[index]?.status === 'rejected').map(({ group }) => group);
  return { resources: found.filter(isFirst), silentGroups: [...new Set(silent)] };
}

/** Old kinds live in old versions alone. */
function versionsOf({ versions = [], preferredVersion }: Group): readonly string[] {
  const all = [...(preferredVersion ? [preferredVersion] : []), ...versions].map(({ version }) => version);
  return [...new Set(all)];
}

type Version = { readonly group: string; readonly version: string };

async function discoverVersion(client: Client, { group, version }: Version, signal: AbortSignal): Promise<Resource[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const { resources = [] } = (await read(client, path, signal)) as ResourceList;
  return resources
    .filter(({ name, kind, verbs }) => !name.includes('/') && kind !== 'Event' && NEEDED_VERBS.every((verb) => verbs.includes(verb)))
    .map(({ name, kind, namespaced }) => ({ group, version, plural: name, kind, isNamespaced: namespaced }));
}

async function read(client: Client, path: string, signal: AbortSignal): Promise<unknown> {
  return (await client.request(path, { signal })).json();
}
