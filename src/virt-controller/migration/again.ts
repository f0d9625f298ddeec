/** When a controller that moves machines by itself may try again, and how it calls that try: what fails for a lasting reason is not tried without end at one pace. Pure. */
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';

type Migrations = readonly VirtualMachineInstanceMigration[];
type Tries = {
  /** Of one instance, whatever made them. */
  readonly migrations: Migrations;
  /** After the first that failed; twice as long after each that fails then. */
  readonly firstMs: number;
  readonly now: number;
};

/** How long to wait before the next; nothing to wait for when it is not above 0. Only few are kept of an instance, which is a bound. */
export function waitForNextMs({ migrations, firstMs, now }: Tries): number {
  return lastFailureAt(migrations) + firstMs * 2 ** Math.max(0, failuresInARow(migrations) - 1) - now;
}

/**
 * Ends the name of the next one. It follows from what is seen: whoever looks twice does not make two. How many there are does not say it: that stays the same once
 * the oldest are forgotten, and so does an instance whose moves fail before it was told of them.
 */
export function nextSuffix(migrations: Migrations): string {
  const [newest] = newestFirst(migrations);
  return `${migrations.length}-${newest?.metadata.uid?.slice(0, 8) ?? 'first'}`;
}

function failuresInARow(migrations: Migrations): number {
  const other = newestFirst(migrations).findIndex(({ status }) => status?.phase !== 'Failed');
  return other < 0 ? migrations.length : other;
}

function lastFailureAt(migrations: Migrations): number {
  const ends = migrations
    .filter(({ status }) => status?.phase === 'Failed')
    .map(({ status, metadata }) => Date.parse(status?.migrationState?.endTimestamp ?? metadata.creationTimestamp ?? '') || 0);
  return Math.max(Number.NEGATIVE_INFINITY, ...ends);
}

/** By the time of the API server, which has seconds; of two of one second by uid, so that it is always the same one. */
function newestFirst(migrations: Migrations): Migrations {
  const rank = ({ metadata: { creationTimestamp = '', uid = '' } }: VirtualMachineInstanceMigration) => `${creationTimestamp} ${uid}`;
  return [...migrations].sort((a, b) => rank(b).localeCompare(rank(a)));
}
