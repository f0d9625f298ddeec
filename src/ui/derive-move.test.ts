import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MigrationState } from '../api/kubevirt/kinds/migration.ts';
import { vm, vmi } from '../testing/builders.ts';
import { deriveMachines } from './derive-machines.ts';
import { deriveMove } from './derive-move.ts';

const moveOf = (migrationState?: MigrationState) => {
  const [machine] = deriveMachines([vm('Always')], [vmi('Running', { nodeName: 'n1', ...(migrationState && { migrationState }) })]);
  return machine && deriveMove(machine);
};
const progress = {
  stage: 'Memory' as const,
  bytesDone: 300 * 2 ** 20,
  bytesLeft: 100 * 2 ** 20,
  bytesPerSecond: 50 * 2 ** 20,
  lastUpdate: '2026-01-01T00:00:00Z',
};

test('a move says how far it is and how long it takes yet', () => {
  assert.deepEqual(moveOf({ sourceNode: 'n1', targetNode: 'n2', progress }), {
    text: 'Migrating from n1 to n2',
    isFailed: false,
    isCancelled: false,
    share: 0.75,
    detail: 'Memory: 100Mi left · 50Mi/s · about 2s left',
  });
});

test('a move that stands still promises nothing', () => {
  assert.equal(moveOf({ targetNode: 'n2', progress: { ...progress, bytesPerSecond: 0 } })?.detail, 'Memory: 100Mi left');
});

test('before it has begun to copy there is no share, afterwards nothing, and a failure says why', () => {
  assert.deepEqual([moveOf({ targetNode: 'n2' })?.share, moveOf({ completed: true }), moveOf()], [undefined, undefined, undefined]);
  assert.match(moveOf({ failed: true, failureReason: 'no room' })?.text ?? '', /no room/);
});
