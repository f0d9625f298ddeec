import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClosedWay, closedWay } from './open-way.ts';

const user = { uid: 1000, gid: 1000 };
const open = { uid: 0, gid: 0, mode: 0o755 };
const closed = { uid: 0, gid: 0, mode: 0o700 };

const cases: [string, Record<string, typeof open>, ClosedWay | undefined][] = [
  ['everything is open', {}, undefined],
  ['one folder is closed', { '/closed': closed }, { cover: '/closed', show: '/closed/share' }],
  ['two are, one in the other', { '/closed': closed, '/closed/share': closed }, { cover: '/closed', show: '/closed/share/data' }],
  ['one may be passed, not read', { '/closed': { ...closed, mode: 0o711 } }, undefined],
  ['one belongs to the user', { '/closed': { ...closed, uid: 1000 } }, undefined],
  ['one is open to the group of the user', { '/closed': { uid: 0, gid: 1000, mode: 0o710 } }, undefined],
  [
    'one is closed to the group of the user alone',
    { '/closed': { uid: 0, gid: 1000, mode: 0o701 } },
    { cover: '/closed', show: '/closed/share' },
  ],
  ['the last one is, and nothing is below it', { '/closed/share/data': closed }, undefined],
];

for (const [name, folders, way] of cases) {
  test(`the way of a user to its folder where ${name}`, () => {
    assert.deepEqual(
      closedWay('/closed/share/data', user, (path) => folders[path] ?? open),
      way,
    );
  });
}
