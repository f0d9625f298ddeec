/** How long a migration waits: for the Pod that the guest is to go to, and for the two nodes until it is sent. Pure. */
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import { ANNOTATION_MIGRATION_PENDING_SECONDS, ANNOTATION_MIGRATION_UNSCHEDULABLE_SECONDS } from '../../api/kubevirt/names.ts';
import type { ObservedMigration } from './observed.ts';

/** A Pod that finds no place, and one that does not come up: its image may have to be fetched. Annotations of the migration say otherwise. */
const UNSCHEDULABLE_SECONDS = 300;
const PENDING_SECONDS = 900;

/** What is left of the time in which its Pod has to come up; not above 0 when that is over. */
export function patienceMs({ migration, targetPod, now }: ObservedMigration): number {
  const isPlaced = (targetPod?.spec.nodeName ?? '') !== '';
  return Date.parse(targetPod?.metadata.creationTimestamp ?? '') + patienceSeconds(migration, isPlaced) * 1000 - now;
}

/** What is left of the time in which the two nodes have to begin: as long as for a Pod that has a node. */
export function silenceMs({ migration, now }: ObservedMigration): number {
  const { phaseTransitionTimestamps = [] } = migration.status ?? {};
  const told = phaseTransitionTimestamps.find(({ phase }) => phase === 'PreparingTarget')?.phaseTransitionTimestamp;
  return told === undefined ? PENDING_SECONDS * 1000 : Date.parse(told) + patienceSeconds(migration, true) * 1000 - now;
}

function patienceSeconds({ metadata }: VirtualMachineInstanceMigration, isPlaced: boolean): number {
  const [annotation, usual] = isPlaced
    ? [ANNOTATION_MIGRATION_PENDING_SECONDS, PENDING_SECONDS]
    : [ANNOTATION_MIGRATION_UNSCHEDULABLE_SECONDS, UNSCHEDULABLE_SECONDS];
  const given = metadata.annotations?.[annotation] ?? '';
  return /^\d{1,9}$/.test(given) ? Number(given) : usual;
}
