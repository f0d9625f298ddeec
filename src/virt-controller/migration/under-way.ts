/**
 * How many moves there are beside one that wants its turn: those that have one, and those that have waited for longer and get one before. Everybody
 * counts by the same order, so that of many that ask at once no more are let go than may be under way. Pure.
 *
 *   it asks for            counted are
 *   a Pod to go to         those that have a Pod or were told, and those before it that would get a Pod now
 *   the word to the nodes  those whose nodes were told, and those before it whose Pod is up, too: Pods may have been made too many of at once
 */
import type { MigrationSettings } from '../../api/kubevirt/configuration/migration-settings.ts';

export type MoveStage = 'waits' | 'has a Pod' | 'has a Pod that is up' | 'was told';
export type Mover = {
  readonly uid: string;
  readonly createdAt: string;
  /** The node that it leaves. */
  readonly node: string | undefined;
  readonly stage: MoveStage;
  /** It waits for something else than its turn. */
  readonly isHindered: boolean;
};
export type UnderWay = { readonly inCluster: number; readonly fromNode: number };
type Limits = Pick<MigrationSettings, 'parallelMigrationsPerCluster' | 'parallelOutboundMigrationsPerNode'>;

export function countUnderWay(one: Mover, others: readonly Mover[], limits: Limits): UnderWay {
  const isTelling = one.stage === 'has a Pod that is up';
  const active = others.filter(({ stage }) => (isTelling ? stage === 'was told' : stage !== 'waits'));
  const counts = { inCluster: active.length, fromNodes: countByNode(active) };
  const fromNode = (node: string | undefined) => counts.fromNodes.get(node) ?? 0;
  const isFull = (node: string | undefined) =>
    counts.inCluster >= limits.parallelMigrationsPerCluster || fromNode(node) >= limits.parallelOutboundMigrationsPerNode;
  if (!isFull(one.node)) {
    const ahead = others.filter((each) => each.stage === one.stage && !each.isHindered && isMoverBefore(each, one));
    for (const { node } of ahead.toSorted((a, b) => (isMoverBefore(a, b) ? -1 : 1))) {
      if (isFull(node)) continue;
      counts.inCluster += 1;
      counts.fromNodes.set(node, fromNode(node) + 1);
    }
  }
  return { inCluster: counts.inCluster, fromNode: fromNode(one.node) };
}

/** Of two that were made in the same second it is the same one for everybody. */
export function isMoverBefore(a: Pick<Mover, 'uid' | 'createdAt'>, b: Pick<Mover, 'uid' | 'createdAt'>): boolean {
  return a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt;
}

function countByNode(movers: readonly Mover[]): Map<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const { node } of movers) counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}
