/** The disks of a machine and what was kept of it, as the page shows them. Pure. */

import { isFinal } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { VirtualMachineRestore } from '../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../api/kubevirt/kinds/vm-snapshot-content.ts';
import { claimOf, imageOf, isHotpluggable, sourceNamesOf } from '../api/kubevirt/volumes/source-of.ts';
import { conditionOf } from '../api/meta.ts';
import { formatBytes } from '../base/quantity.ts';
import { momentOf, snapshotsOfMachine } from '../sdk/manifest/snapshot.ts';
import { snapshotTree } from '../sdk/snapshot-tree.ts';
import type { Machine } from './derive-machines.ts';
import { where } from './derive-where.ts';

export type DiskRow = {
  readonly name: string;
  readonly target: string;
  readonly source: string;
  readonly size: string;
  /** It comes and goes while the guest runs. */
  readonly canGo: boolean;
  /** How far it is, while it comes or goes. */
  readonly state: string | undefined;
};
export type SnapshotRow = {
  /** What stands before its name: those that were taken after a rollback are beneath the one that was rolled back to. */
  readonly indent: string;
  readonly name: string;
  readonly uid: string | undefined;
  readonly phase: string;
  readonly moment: string;
  readonly disks: string;
  readonly size: string;
  /** How it was taken; why not, when it was not. */
  readonly how: string;
  /** Why the machine cannot become this; undefined when it can. */
  readonly refusal: string | undefined;
};

export function deriveDisks({ vm, vmi }: Machine): DiskRow[] {
  const volumes = vmi?.spec.volumes ?? vm?.spec.template.spec.volumes ?? [];
  const statuses = new Map(vmi?.status?.volumeStatus?.map((status) => [status.name, status]));
  return volumes.map((volume) => {
    const status = statuses.get(volume.name);
    const [kind = ''] = sourceNamesOf(volume);
    const what = imageOf(volume)?.image ?? claimOf(volume)?.claimName;
    const size = status?.persistentVolumeClaimInfo?.capacity?.['storage'];
    return {
      name: volume.name,
      target: status?.target || '–',
      source: what === undefined ? kind : `${kind}: ${what}`,
      size: String(size ?? '–'),
      canGo: isHotpluggable(volume),
      state: status?.phase === undefined || status.phase === 'Ready' ? undefined : (status.message ?? status.phase),
    };
  });
}

type Kept = {
  readonly snapshots: readonly VirtualMachineSnapshot[];
  /** Empty for whoever may not see them: then nothing is beneath another one, and no size is known. */
  readonly contents: readonly VirtualMachineSnapshotContent[];
  readonly restores: readonly VirtualMachineRestore[];
  readonly mayRestore: boolean;
};

/** From the oldest to the newest, each after the one that it was taken after. */
export function deriveSnapshots(machine: Machine, { snapshots, contents, restores, mayRestore }: Kept): SnapshotRow[] {
  const tree = snapshotTree({ snapshots: snapshotsOfMachine(snapshots, machine.name), contents, restores });
  return tree.map(({ snapshot, indent, sizeBytes }) => {
    const { phase = 'InProgress', snapshotVolumes, indications = [], error, readyToUse = false } = snapshot.status ?? {};
    const hasMemory = snapshot.spec.memory === true;
    return {
      indent,
      name: snapshot.metadata.name,
      uid: snapshot.metadata.uid,
      phase,
      moment: momentOf(snapshot),
      disks: [...(snapshotVolumes?.includedVolumes ?? []), ...(hasMemory ? ['memory'] : [])].join(', ') || 'none',
      size: sizeBytes === undefined ? '–' : formatBytes(Math.ceil(sizeBytes / MIB) * MIB),
      how: error?.message ?? howTaken(indications),
      refusal: restoreRefusal(machine, { readyToUse, mayRestore }),
    };
  });
}

const MIB = 2 ** 20;
const HOW: Readonly<Record<string, string>> = {
  Online: 'while it ran',
  GuestAgent: 'file systems frozen',
  NoGuestAgent: 'as if its power had failed',
  QuiesceTimeout: 'its agent could not freeze it',
  Paused: 'paused',
  Memory: 'with its memory',
};

function howTaken(indications: readonly string[]): string {
  return indications.map((each) => HOW[each] ?? each).join(', ') || 'while it was stopped';
}

function restoreRefusal(
  { name, namespace, vmi }: Machine,
  { readyToUse, mayRestore }: { readyToUse: boolean; mayRestore: boolean },
): string | undefined {
  if (!mayRestore) return `you may not restore machines in ${namespace}`;
  if (!readyToUse) return 'it is not whole';
  return vmi && !isFinal(vmi) ? `${name} runs; stop it first` : undefined;
}

/** How the last restore of the machine goes, or went; undefined when there was none, or it is done. */
export function deriveRestore({ name }: Machine, restores: readonly VirtualMachineRestore[]): string | undefined {
  const last = restores
    .filter(({ spec }) => spec.target.name === name)
    .toSorted((a, b) => (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''))
    .at(-1);
  if (!last || last.status?.complete) return undefined;
  const failure = conditionOf(last.status?.conditions, 'Failure');
  const from = last.spec.virtualMachineSnapshotName;
  if (failure?.status === 'True') return `It did not become what it was in ${from}: ${failure.message ?? 'nobody says why'}`;
  return `It becomes what it was in ${from}. ${conditionOf(last.status?.conditions, 'Progressing')?.message ?? ''}`.trim();
}

type Where = Pick<Machine, 'namespace' | 'name'>;

export function snapshotCommand({ namespace, name }: Where, snapshot: string): string {
  return `virtctl snapshot ${name} ${snapshot}${where(namespace)}`;
}

export function restoreCommand({ namespace, name }: Where, snapshot: string): string {
  return `virtctl rollback ${name} ${snapshot}${where(namespace)}`;
}

export function dropCommand({ namespace }: Where, snapshot: string): string {
  return `kubectl delete vmsnapshot ${snapshot}${where(namespace)}`;
}
