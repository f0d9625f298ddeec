import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveLines, deriveShown, nextSort, valuesOf } from './derive-list.ts';
import type { Machine } from './derive-machines.ts';
import { derivePlace, placePath } from './derive-place.ts';

const machine = (name: string, more: Partial<Machine> = {}): Machine => ({
  key: `default/${name}`,
  namespace: 'default',
  name,
  status: 'Running',
  tone: 'good',
  ...more,
});
const LIST = { page: 'machines', text: '', status: '' } as const;
const MACHINES = [
  machine('vm10', { memory: '1Gi', node: 'n2', since: '2026-01-01T00:00:00Z' }),
  machine('vm2', { memory: '512Mi', node: 'n1', since: '2026-01-02T00:00:00Z' }),
  machine('vm1', { namespace: 'team', status: 'Stopped' }),
];
const sorted = (sort?: string) => deriveLines(MACHINES, { ...(sort && { sort }) }).map((line) => 'machine' in line && line.machine.name);

test('machines are sorted by numbers as numbers, either way round, and those that have none of it come last', () => {
  assert.deepEqual(sorted(), ['vm10', 'vm2', 'vm1']);
  assert.deepEqual(sorted('name'), ['vm1', 'vm2', 'vm10']);
  assert.deepEqual(
    [sorted('size'), sorted('-size')],
    [
      ['vm2', 'vm10', 'vm1'],
      ['vm10', 'vm2', 'vm1'],
    ],
  );
  assert.deepEqual(sorted('since'), ['vm2', 'vm10', 'vm1']);
  assert.deepEqual(sorted('nonsense'), ['vm10', 'vm2', 'vm1']);
});

test('a click on the head of a column sorts, the next the other way round, the third not at all', () => {
  assert.deepEqual(
    [nextSort(undefined, 'name'), nextSort('name', 'name'), nextSort('-name', 'name'), nextSort('name', 'size')],
    ['name', '-name', undefined, 'size'],
  );
});

test('groups have their members below them, and those that belong to none have one', () => {
  const lines = deriveLines(MACHINES, { group: 'node' }).map((line) =>
    'group' in line ? [line.group, line.machines.length] : line.machine.name,
  );
  assert.deepEqual(lines, [['no node', 1], 'vm1', ['n1', 1], 'vm2', ['n2', 1], 'vm10']);
});

test('what is shown is of the namespace and the node that are asked for, and the address says all of it', () => {
  const place = { ...LIST, namespace: 'default', node: 'n1', sort: '-since', group: 'status' };
  assert.deepEqual(
    deriveShown(MACHINES, place).map(({ name }) => name),
    ['vm2'],
  );
  assert.deepEqual(valuesOf(MACHINES, 'node'), ['n1', 'n2']);
  const url = new URL(placePath(place), 'http://localhost');
  assert.equal(url.search, '?namespace=default&node=n1&sort=-since&group=status');
  assert.deepEqual(derivePlace(url.pathname, url.search), place);
  assert.deepEqual(derivePlace('/', ''), LIST);
});
