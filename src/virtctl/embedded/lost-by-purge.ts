/** What goes with the data folder: the VMs, and the disks with what guests have written. Folders that guests share are elsewhere, and stay. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_SHARED_FOLDER } from '../../api/kubevirt/names.ts';
import type { KubeObject } from '../../api/meta.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import type { Deps } from '../deps.ts';
import { runningState } from './state.ts';
import { storePath } from './store-file.ts';

type Lost = { readonly vms: readonly KubeObject[]; readonly claims: readonly PersistentVolumeClaim[] };

/** More than this many are counted, not named. */
const MOST_NAMED = 10;

/** Lines for people, from the cluster when it runs and from its store when it does not. */
export async function describeLost(deps: Deps): Promise<string> {
  const lost = runningState(deps.home) ? await fromCluster(deps).catch(() => fromStore(deps.home)) : fromStore(deps.home);
  const what = lost ? linesOf(lost) : ['  its VMs and disks; which these are cannot be read from its store'];
  return [`Everything in ${deps.home} will be removed for good, images and certificates included:`, ...what, ''].join('\n');
}

function linesOf({ vms, claims }: Lost): string[] {
  const size = ({ spec, status }: PersistentVolumeClaim) => status?.capacity?.['storage'] ?? spec.resources?.requests?.['storage'] ?? '?';
  const disks = claims.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_SHARED_FOLDER] === undefined);
  return [
    line('VM', vms.map(nameOf)),
    line(
      'disk (PVC)',
      disks.map((claim) => `${nameOf(claim)} (${size(claim)})`),
    ),
  ];
}

function line(what: string, names: readonly string[]): string {
  if (names.length === 0) return `  no ${what}`;
  const more = names.length > MOST_NAMED ? [`and ${names.length - MOST_NAMED} more`] : [];
  return `  ${names.length} ${what}${names.length === 1 ? '' : 's'}: ${[...names.slice(0, MOST_NAMED), ...more].join(', ')}`;
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

async function fromCluster({ connect, home }: Deps): Promise<Lost> {
  const { client } = await connect({ kubeconfig: kubeconfigPath(home) });
  const [vms, claims] = await Promise.all([client.list(VMS), client.list(PERSISTENT_VOLUME_CLAIMS)]);
  return { vms: vms.items, claims: claims.items };
}

/** Undefined when it cannot be read: a damaged store is one of the reasons to remove everything. */
function fromStore(home: string): Lost | undefined {
  const path = storePath(home);
  if (!existsSync(path)) return { vms: [], claims: [] };
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return {
        vms: currentUnder(database, 'kubevirt.io/virtualmachines/'),
        claims: currentUnder(database, 'core/persistentvolumeclaims/') as PersistentVolumeClaim[], // what is stored under this key
      };
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

function currentUnder(database: DatabaseSync, prefix: string): KubeObject[] {
  const newest = 'SELECT key, value, max(revision) FROM log WHERE substr(key, 1, ?) = ? GROUP BY key ORDER BY key';
  const rows = database.prepare(newest).all(prefix.length, prefix) as { value: string | null }[]; // the table has this column
  return rows.flatMap(({ value }) => (value === null ? [] : [JSON.parse(value) as KubeObject])); // whatever is stored was made from an object
}
