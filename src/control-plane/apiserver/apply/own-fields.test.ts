import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepEqual } from '../../../base/json.ts';
import type { Schema } from '../schema/schema.ts';
import { difference, isEmptySet, NO_FIELDS, pathTexts } from './field-set.ts';
import { NOBODY, type Owner, type Owners, ownerId, withFewUpdaters } from './managed-fields.ts';
import { mergeApplied } from './merge-fields.ts';
import { applyFields, ownersAfterUpdate, type Writer } from './own-fields.ts';
import { compareFields, fieldsOf } from './walk-fields.ts';

const text: Schema = { type: 'string' };
const port: Schema = { type: 'object', properties: { name: text, protocol: { ...text, default: 'TCP' }, note: text } };
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    size: text,
    nested: { type: 'object', properties: { a: text, b: text } },
    labels: { type: 'object', additionalProperties: text },
    whole: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    ports: { type: 'array', items: port, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name', 'protocol'] },
    plain: { type: 'array', items: text },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const word = fc.constantFrom('x', 'y', 'z');
const key = fc.constantFrom('k1', 'k2', 'k3');
const objects = fc
  .record(
    {
      size: word,
      nested: fc.record({ a: word, b: word }, { requiredKeys: [] }),
      labels: fc.dictionary(key, word, { maxKeys: 3, noNullPrototype: true }),
      whole: fc.dictionary(key, word, { maxKeys: 2, noNullPrototype: true }),
      tags: fc.uniqueArray(word),
      ports: fc.uniqueArray(
        fc.record({ name: word, protocol: fc.constantFrom('TCP', 'UDP'), note: word }, { requiredKeys: ['name', 'protocol'] }),
        {
          selector: ({ name, protocol }) => `${name}/${protocol}`,
        },
      ),
      plain: fc.array(word, { maxLength: 2 }),
      free: fc.dictionary(key, fc.oneof(word, fc.dictionary(key, word, { maxKeys: 2, noNullPrototype: true })), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
    },
    { requiredKeys: [] },
  )
  .map((object) => JSON.parse(JSON.stringify(object)) as object); // as it comes over the wire

const writer = (manager: string, operation: Writer['operation'] = 'Apply', time = '2026-01-01T00:00:00Z'): Writer => ({
  manager,
  operation,
  apiVersion: 'v1',
  subresource: '',
  time,
});

function applied(live: object, config: object, { by = 'me', owners = NOBODY }: { readonly by?: string; readonly owners?: Owners } = {}) {
  const { set: stated } = fieldsOf(SCHEMA, config);
  return applyFields({ schema: SCHEMA, live, applied: config, stated, owners, writer: writer(by), unchangeable: NO_FIELDS });
}

const ownedBy = (owners: Owners, manager: string) =>
  pathTexts([...owners.values()].find((owner) => owner.manager === manager)?.set ?? NO_FIELDS);

test('an object does not differ from itself, and what is added is all that it has', () => {
  fc.assert(
    fc.property(objects, objects, (a, b) => {
      const same = compareFields(SCHEMA, a, structuredClone(a));
      assert.ok([same.added, same.modified, same.removed].every(isEmptySet));
      const { added, removed } = compareFields(SCHEMA, a, b);
      assert.deepEqual(pathTexts(compareFields(SCHEMA, b, a).added), pathTexts(removed));
      assert.deepEqual(pathTexts(compareFields(SCHEMA, b, a).removed), pathTexts(added));
    }),
  );
});

test('after an apply everything that it stated is there, with its value, and is its own', () => {
  fc.assert(
    fc.property(objects, objects, (live, config) => {
      const { object, owners } = applied(live, config);
      const { set: stated } = fieldsOf(SCHEMA, config);
      assert.ok(isEmptySet(difference(stated, compareFields(SCHEMA, {}, object).added)));
      assert.deepEqual(ownedBy(owners, 'me'), pathTexts(stated));
      assert.ok(deepEqual(mergeApplied(SCHEMA, object, config), object));
    }),
  );
});

test('the same apply again changes neither the object nor who owns what', () => {
  fc.assert(
    fc.property(objects, objects, objects, (live, mine, others) => {
      const first = applied(live, others, { by: 'other' });
      const second = applied(first.object, mine, { owners: first.owners });
      const third = applied(second.object, mine, { owners: second.owners });
      assert.deepEqual(third.object, second.object);
      assert.deepEqual(third.owners, second.owners);
      assert.deepEqual(third.conflicts, []);
    }),
  );
});

test('an applier that states nothing any more leaves what others own as it was', () => {
  fc.assert(
    fc.property(objects, objects, (mine, others) => {
      const first = applied({}, others, { by: 'other' });
      const second = applied(first.object, mine, { owners: first.owners });
      const last = applied(second.object, {}, { owners: second.owners });
      const owned = [...second.owners.values()].find(({ manager }) => manager === 'other')?.set ?? NO_FIELDS;
      assert.ok(isEmptySet(difference(owned, compareFields(SCHEMA, {}, last.object).added)));
      assert.deepEqual(ownedBy(last.owners, 'me'), []);
    }),
  );
});

test('nobody else owns what was changed under them', () => {
  fc.assert(
    fc.property(objects, objects, (before, after) => {
      const { owners } = applied({}, before, { by: 'other' });
      const changed = ownersAfterUpdate({ schema: SCHEMA, before, after, owners, writer: writer('editor', 'Update') });
      const { modified, added, removed } = compareFields(SCHEMA, before, after);
      const gone = new Set([...pathTexts(modified), ...pathTexts(added), ...pathTexts(removed)]);
      assert.deepEqual(
        ownedBy(changed, 'other').filter((path) => gone.has(path)),
        [],
      );
      assert.deepEqual(new Set(ownedBy(changed, 'editor')), new Set([...pathTexts(modified), ...pathTexts(added)]));
    }),
  );
});

test('items that only the live list has keep their place before the next that both have', () => {
  const ports = (...names: string[]) => ({ ports: names.map((name) => ({ name, protocol: 'TCP' })) });
  const order = (live: object, config: object) =>
    (mergeApplied(SCHEMA, live, config) as { ports: { name: string }[] }).ports.map(({ name }) => name);
  assert.deepEqual(order(ports('a', 's', 'b'), ports('s', 'x', 'y')), ['a', 's', 'b', 'x', 'y']);
  assert.deepEqual(order(ports('a', 'b', 'c'), ports('b', 'a', 'x')), ['b', 'c', 'a', 'x']);
  assert.deepEqual(order(ports('a', 'b'), ports('x', 'b')), ['a', 'x', 'b']);
});

test('of more than ten updaters the oldest become one', () => {
  const owners = new Map(
    Array.from({ length: 13 }, (_, i): [string, Owner] => {
      const by = writer(`m${i}`, 'Update', `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`);
      return [ownerId(by), { ...by, set: fieldsOf(undefined, { [`k${i}`]: 'v' }).set }];
    }),
  );
  const few = withFewUpdaters(owners);
  assert.equal(few.size, 10);
  assert.deepEqual(ownedBy(few, 'ancient-changes'), ['.k0', '.k1', '.k2', '.k3']);
});
