import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countUnderWay, type Mover, type MoveStage } from './under-way.ts';

const mover = (uid: string, stage: MoveStage, { node = 'n1', isHindered = false } = {}): Mover => ({
  uid,
  createdAt: '2026-01-01T00:00:00Z',
  node,
  stage,
  isHindered,
});

/** Which of them get their turn when each looks at all others. */
function goers(movers: readonly Mover[], parallelMigrationsPerCluster: number, parallelOutboundMigrationsPerNode: number): string[] {
  const limits = { parallelMigrationsPerCluster, parallelOutboundMigrationsPerNode };
  const mayGo = (one: Mover) => {
    const others = movers.filter((each) => each !== one);
    const { inCluster, fromNode } = countUnderWay(one, others, limits);
    return inCluster < parallelMigrationsPerCluster && fromNode < parallelOutboundMigrationsPerNode;
  };
  return movers.filter((each) => (each.stage === 'waits' || each.stage === 'has a Pod that is up') && mayGo(each)).map(({ uid }) => uid);
}

test('of many that are made at once, as many are let go as may be under way', () => {
  const four = ['d', 'b', 'c', 'a'].map((uid) => mover(uid, 'waits'));
  assert.deepEqual([goers(four, 1, 1), goers(four, 3, 9), goers(four, 9, 2)], [['a'], ['b', 'c', 'a'], ['b', 'a']]);
});

test('one that has its Pod and is not said to counts', () => {
  assert.deepEqual(goers([mover('a', 'waits'), mover('b', 'has a Pod')], 1, 1), []);
});

test('those of another node, and those that wait for something else, do not take a turn', () => {
  const elsewhere = [mover('a', 'was told'), mover('b', 'waits'), mover('c', 'waits', { node: 'n2' })];
  assert.deepEqual(goers(elsewhere, 5, 1), ['c']);
  assert.deepEqual(goers([mover('a', 'waits', { isHindered: true }), mover('b', 'waits')], 1, 1), ['a', 'b']);
});

test('where too many Pods were made, no more are told of than may be under way', () => {
  const three = ['a', 'b', 'c'].map((uid) => mover(uid, 'has a Pod that is up'));
  assert.deepEqual([goers(three, 1, 1), goers([...three, mover('z', 'was told')], 2, 2)], [['a'], ['a']]);
  assert.deepEqual(goers([...three, mover('z', 'was told')], 1, 1), []);
});
