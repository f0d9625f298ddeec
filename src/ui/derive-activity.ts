/** What happened to machines and what was done to them, as one list. Pure. */
import type { Event } from '../api/core/event.ts';
import type { VirtualMachineInstanceMigration } from '../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineRestore } from '../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../api/kubevirt/kinds/vm-snapshot.ts';
import { conditionOf, type KubeObject } from '../api/meta.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';
import type { Machine } from './derive-machines.ts';

export type Activity = {
  readonly key: string;
  readonly atMs: number;
  /** What it is about: kind and name. */
  readonly about: string;
  readonly what: string;
  readonly message: string;
  readonly isWarning: boolean;
  readonly count: number;
};

export type Operations = {
  readonly migrations: readonly VirtualMachineInstanceMigration[];
  readonly snapshots: readonly VirtualMachineSnapshot[];
  readonly restores: readonly VirtualMachineRestore[];
};

/** More than anybody reads. */
const MOST = 500;

/** The newest first. */
export function deriveActivity(events: readonly Event[], operations?: Operations): Activity[] {
  const done = operations
    ? [...operations.migrations.map(ofMigration), ...operations.snapshots.map(ofSnapshot), ...operations.restores.map(ofRestore)]
    : [];
  return [...events.map(ofEvent), ...done].sort((a, b) => b.atMs - a.atMs).slice(0, MOST);
}

/** Events of the machine, of its instance and of its Pods. */
export function eventsOf({ namespace, name }: Pick<Machine, 'namespace' | 'name'>, events: readonly Event[]): Event[] {
  return events.filter(
    ({ involvedObject: about }) =>
      about.namespace === namespace && (about.name === name || (about.kind === 'Pod' && hasPodName(about.name, name))),
  );
}

/** A launcher Pod of this machine: its name has one more word, and no machine of a longer name is meant. */
export function hasPodName(pod: string | undefined, machine: string): boolean {
  const prefix = `virt-launcher-${machine}-`;
  return pod?.startsWith(prefix) === true && !pod.slice(prefix.length).includes('-');
}

/** Moves, snapshots and restores of one machine. */
export function operationsOf({ name }: Pick<Machine, 'name'>, { migrations, snapshots, restores }: Operations): Operations {
  return {
    migrations: migrations.filter(({ spec }) => spec.vmiName === name),
    snapshots: snapshots.filter(({ spec }) => spec.source.name === name),
    restores: restores.filter(({ spec }) => spec.target.name === name),
  };
}

function ofEvent({ metadata, involvedObject: about, reason, message, type, lastTimestamp, count = 1 }: Event): Activity {
  return {
    key: metadata.uid ?? metadata.name,
    atMs: timeOf(lastTimestamp ?? metadata.creationTimestamp),
    about: escapeToOneLine(`${about.kind} ${about.name}`),
    what: escapeToOneLine(reason),
    message: escapeToOneLine(message ?? ''),
    isWarning: type === 'Warning',
    count,
  };
}

function ofMigration(migration: VirtualMachineInstanceMigration): Activity {
  const { phase = 'Pending', migrationState } = migration.status ?? {};
  const way = migrationState?.targetNode ? `from ${migrationState.sourceNode} to ${migrationState.targetNode}` : 'to another node';
  const message = migrationState?.failureReason ?? `move ${way}`;
  return operation(migration, { what: `Migration: ${phase}`, message, isWarning: phase === 'Failed', at: migrationState?.endTimestamp });
}

function ofSnapshot(snapshot: VirtualMachineSnapshot): Activity {
  const { phase = 'InProgress', error, creationTime } = snapshot.status ?? {};
  const message = error?.message ?? `of ${snapshot.spec.source.name}`;
  return operation(snapshot, { what: `Snapshot: ${phase}`, message, isWarning: phase === 'Failed', at: creationTime });
}

function ofRestore(restore: VirtualMachineRestore): Activity {
  const { complete = false, conditions, restoreTime } = restore.status ?? {};
  const failure = conditionOf(conditions, 'Failure');
  const isWarning = failure?.status === 'True';
  const what = `Restore: ${complete ? 'Succeeded' : isWarning ? 'Failed' : 'InProgress'}`;
  return operation(restore, {
    what,
    message: (isWarning && failure.message) || `from ${restore.spec.virtualMachineSnapshotName}`,
    isWarning,
    at: restoreTime,
  });
}

type Told = Pick<Activity, 'what' | 'message' | 'isWarning'> & { readonly at: string | null | undefined };

function operation({ kind, metadata }: KubeObject, { at, message, ...told }: Told): Activity {
  return {
    ...told,
    key: metadata.uid ?? metadata.name,
    atMs: timeOf(at ?? metadata.creationTimestamp),
    about: `${kind} ${metadata.name}`,
    message: escapeToOneLine(message),
    count: 1,
  };
}

function timeOf(at: string | null | undefined): number {
  return Date.parse(at ?? '') || 0;
}
