/** What disks can be made of and on: container images in use, DataVolumes with how far they are, and claims. Pure. */

import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import { DATA_VOLUMES, type DataVolume, hasFailed, phaseOf } from '../api/kubevirt/kinds/data-volume.ts';
import { conditionOf, keyOf } from '../api/meta.ts';
import { apiVersionOf } from '../api/resource.ts';
import { formatBytes, parseQuantity } from '../base/quantity.ts';
import type { Machine, Tone } from './derive-machines.ts';
import { claimsOf } from './derive-plug.ts';
import { where } from './derive-where.ts';

export type ImageRow = {
  readonly key: string;
  readonly uid?: string;
  readonly kind: DataVolume['kind'] | 'PersistentVolumeClaim';
  readonly namespace: string;
  readonly name: string;
  readonly source: string;
  readonly size: string;
  readonly phase: string;
  readonly tone: Tone;
  /** From 0 to 1 while it is being filled, and it is known. */
  readonly share: number | undefined;
  /** Why it does not come further. */
  readonly trouble: string | undefined;
  /** Machines that have it as a disk. */
  readonly users: readonly string[];
};

export type Import = {
  readonly namespace: string;
  readonly name: string;
  readonly url: string;
  readonly size: string;
  readonly checksum: string;
};

/** DataVolumes first, then claims of their own; each by namespace and name. */
export function deriveImageRows(
  dataVolumes: readonly DataVolume[],
  claims: readonly PersistentVolumeClaim[],
  machines: readonly Machine[],
): ImageRow[] {
  const users = usersByClaim(machines);
  const byKey = new Map(claims.map((claim) => [keyOf(claim.metadata), claim]));
  const filled = dataVolumes.map((dataVolume) => {
    const key = keyOf(dataVolume.metadata);
    const claim = byKey.get(key);
    byKey.delete(key);
    return dataVolumeRow(dataVolume, claim, users.get(key) ?? []);
  });
  const others = [...byKey].map(([key, claim]) => claimRow(claim, users.get(key) ?? []));
  const byName = (a: ImageRow, b: ImageRow) => (a.key < b.key ? -1 : 1);
  return [...filled.sort(byName), ...others.sort(byName)];
}

/** How many machines use each container image; the most used first. */
export function deriveUsedImages(machines: readonly Machine[]): { readonly image: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const { image } of machines) if (image !== undefined) counts.set(image, (counts.get(image) ?? 0) + 1);
  return [...counts].map(([image, count]) => ({ image, count })).sort((a, b) => b.count - a.count || (a.image < b.image ? -1 : 1));
}

export function importedVolume({ namespace, name, url, size, checksum }: Import): DataVolume {
  return {
    apiVersion: apiVersionOf(DATA_VOLUMES),
    kind: DATA_VOLUMES.kind,
    metadata: { namespace, name },
    spec: {
      source: { http: { url, ...(checksum !== '' && { checksum }) } },
      storage: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
    },
  };
}

/** A name for what is at an address: its last part, without what a name may not have. */
export function nameOfAddress(url: string): string {
  const last = url.split(/[?#]/)[0]?.split('/').filter(Boolean).at(-1) ?? '';
  const plain = last.replace(/\.(xz|gz|zst|qcow2|img|raw|iso|vmdk)(?=\.|$)/gi, '').toLowerCase();
  return plain
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 50);
}

/** Why it cannot be deleted without harm; undefined when nobody has it. */
export function deleteRefusal({ users }: ImageRow): string | undefined {
  return users.length === 0 ? undefined : `a disk of ${users.slice(0, 3).join(', ')}${users.length > 3 ? ' and others' : ''}`;
}

export function deleteCommand({ kind, namespace, name }: ImageRow): string {
  return `kubectl delete ${kind === DATA_VOLUMES.kind ? 'dv' : 'pvc'} ${name}${where(namespace)}`;
}

function dataVolumeRow(dataVolume: DataVolume, claim: PersistentVolumeClaim | undefined, users: readonly string[]): ImageRow {
  const { metadata, spec, status } = dataVolume;
  const phase = phaseOf(dataVolume) ?? 'Pending';
  const isFailed = hasFailed(dataVolume);
  const percent = Number.parseFloat(status?.progress ?? '');
  const wish = spec.storage ?? spec.pvc;
  return {
    key: keyOf(metadata),
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    kind: DATA_VOLUMES.kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    source: sourceText(spec.source),
    size: sizeText(claim?.status?.capacity?.['storage'] ?? wish?.resources?.requests?.['storage']),
    phase,
    tone: isFailed ? 'bad' : phase === 'Succeeded' ? 'good' : 'busy',
    share: phase === 'Succeeded' || !Number.isFinite(percent) ? undefined : Math.min(1, Math.max(0, percent / 100)),
    trouble: isFailed ? (conditionOf(status?.conditions, 'Running')?.message ?? 'nobody says why') : undefined,
    users,
  };
}

function claimRow({ metadata, spec, status }: PersistentVolumeClaim, users: readonly string[]): ImageRow {
  const phase = status?.phase ?? 'Pending';
  const from = spec.dataSourceRef ?? spec.dataSource;
  return {
    key: keyOf(metadata),
    ...(metadata.uid !== undefined && { uid: metadata.uid }),
    kind: 'PersistentVolumeClaim',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    source: from ? `${from.kind} ${from.name}` : '–',
    size: sizeText(status?.capacity?.['storage'] ?? spec.resources?.requests?.['storage']),
    phase,
    tone: phase === 'Bound' ? 'good' : phase === 'Lost' ? 'bad' : 'busy',
    share: undefined,
    trouble: undefined,
    users,
  };
}

/** Whole mebibytes: what a claim is larger by for its file system is an odd number. */
function sizeText(quantity: string | undefined): string {
  const bytes = quantity === undefined ? undefined : parseQuantity(quantity);
  return bytes === undefined ? (quantity ?? '–') : formatBytes(Math.ceil(bytes / 2 ** 20) * 2 ** 20);
}

function sourceText(source: DataVolume['spec']['source']): string {
  const [[kind, data] = ['–', undefined]] = Object.entries(source ?? {});
  const told = data as { readonly url?: string; readonly name?: string } | undefined; // one of the sources of the schema
  return told?.url ?? (told?.name === undefined ? kind : `${kind} ${told.name}`);
}

function usersByClaim(machines: readonly Machine[]): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const machine of machines)
    for (const claim of claimsOf(machine)) {
      const key = `${machine.namespace}/${claim}`;
      users.set(key, [...(users.get(key) ?? []), machine.name]);
    }
  return users;
}

/** A size that the server will take, for the dialog to say before it is asked. */
export function isSize(text: string): boolean {
  const bytes = parseQuantity(text);
  return bytes !== undefined && bytes > 0;
}
