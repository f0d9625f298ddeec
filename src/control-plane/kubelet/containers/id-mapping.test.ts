import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idMappingFor, userWithin } from './id-mapping.ts';

const ROOT = { uid: 0, gid: 0 };
const among = (first: number, count: number) => (uid: number) => uid >= first && uid < first + count;

test('root of a machine gives containers 65536 users, far from those of people', () => {
  assert.deepEqual(
    idMappingFor(() => true, ROOT),
    { uid: 1_073_741_824, gid: 1_073_741_824, count: 65_536 },
  );
});

test('root of a namespace with 64k users gives those before the users of machines', () => {
  const mapping = idMappingFor(among(0, 65_536), ROOT);
  assert.deepEqual(mapping, { uid: 1, gid: 1, count: 39_999 });
});

test('root of a namespace with fewer gives none', () => {
  assert.equal(idMappingFor(among(0, 30_000), ROOT), undefined);
});

test('an ordinary user gives itself', () => {
  assert.deepEqual(
    idMappingFor(() => false, { uid: 1000, gid: 100 }),
    { uid: 1000, gid: 100, count: 1 },
  );
});

test('users of an image that there is no room for are nobody, those of a container with one user are whoever it asks for', () => {
  const user = { uid: 65_532, gid: 101, groups: [70_000] };
  assert.deepEqual(userWithin(user, { uid: 1, gid: 1, count: 39_999 }), { uid: 39_997, gid: 101, groups: [39_997] });
  assert.deepEqual(userWithin(user, { uid: 1000, gid: 1000, count: 1 }), user);
});
