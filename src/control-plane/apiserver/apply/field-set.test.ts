import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  difference,
  differenceBelow,
  equalSets,
  type FieldSet,
  fieldSetOfPaths,
  fromFieldsV1,
  intersection,
  pathTexts,
  toFieldsV1,
  union,
} from './field-set.ts';

const step = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"name":"x"}', 'k:{"name":"y","port":1}', 'v:"v"', 'v:1', 'i:0');
const paths = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
const sets = paths.map(fieldSetOfPaths);
const members = (set: FieldSet) => new Set(pathTexts(set));

test('what is written as FieldsV1 is read as the same set', () => {
  fc.assert(fc.property(sets, (set) => assert.ok(equalSets(fromFieldsV1(toFieldsV1(set)) ?? fieldSetOfPaths([]), set))));
});

test('union, difference and intersection are those of the paths', () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      const [left, right] = [members(a), members(b)];
      assert.deepEqual(members(union(a, b)), new Set([...left, ...right].sort(byPathOrder(union(a, b)))));
      assert.deepEqual([...members(difference(a, b))].sort(), [...left].filter((path) => !right.has(path)).sort());
      assert.deepEqual([...members(intersection(a, b))].sort(), [...left].filter((path) => right.has(path)).sort());
    }),
  );
});

test('differenceBelow leaves nothing that starts with a path of the other', () => {
  fc.assert(
    fc.property(sets, sets, (a, b) => {
      const gone = [...members(b)];
      const left = [...members(a)].filter(
        (path) => !gone.some((other) => path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`)),
      );
      assert.deepEqual([...members(differenceBelow(a, b))].sort(), left.sort());
    }),
  );
});

test('paths are written as messages write them', () => {
  const set = fieldSetOfPaths([
    ['f:spec', 'f:containers', 'k:{"name":"web"}', 'f:image'],
    ['f:spec', 'f:tags', 'v:"a"'],
    ['f:spec', 'f:list', 'i:3'],
  ]);
  assert.deepEqual(pathTexts(set), ['.spec.containers[name="web"].image', '.spec.list[3]', '.spec.tags[="a"]']);
});

test('what is not FieldsV1 is no set', () => {
  for (const fields of [
    undefined,
    [],
    { spec: {} },
    { 'f:spec': 1 },
    { 'k:nonsense': {} },
    { 'k:[1]': {} },
    { 'v:{': {} },
    { 'f:a': { x: {} } },
  ]) {
    assert.equal(fromFieldsV1(fields), undefined);
  }
});

/** pathTexts has an order of its own; a Set remembers the order of insertion and deepEqual does not look at it. */
function byPathOrder(set: FieldSet): (a: string, b: string) => number {
  const order = new Map(pathTexts(set).map((path, index) => [path, index]));
  return (a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0);
}
