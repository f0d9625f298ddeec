import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { vm } from '../testing/builders.ts';
import { deriveCompletion, pathAbove, type SchemaDocument } from './derive-completion.ts';
import { deriveDiff } from './derive-diff.ts';
import { editedObject, isChangedByOthers, onto, shownObject } from './derive-edited-yaml.ts';

/** The schema of the definition itself, as the API server publishes it. */
function published(): SchemaDocument {
  const definition = parse(readFileSync('deploy/crds/virtualmachines.yaml', 'utf8'));
  const schema = definition.spec.versions.find(({ name }: { name: string }) => name === 'v1').schema.openAPIV3Schema;
  return { components: { schemas: { vm: { ...schema, 'x-kubernetes-group-version-kind': [{ kind: 'VirtualMachine' }] } } } };
}
const complete = (text: string) =>
  deriveCompletion(text.split('\n'), published(), 'VirtualMachine')?.options.map(({ label }) => label) ?? [];

test('keys complete by the schema, in objects and in items of lists however these are indented', () => {
  assert.ok(complete('spec:\n  run').includes('runStrategy'));
  const inDomain = 'spec:\n  template:\n    spec:\n      domain:\n        ';
  assert.ok(complete(`${inDomain}mem`).includes('memory'));
  for (const list of [
    'spec:\n  template:\n    spec:\n      volumes:\n      - name: a\n        ',
    'spec:\n  template:\n    spec:\n      volumes:\n        - ',
    'spec:\n  template:\n    spec:\n      volumes:\n        - name: a\n        - ',
  ])
    assert.ok(complete(list).includes('containerDisk'), list);
});

test('values complete where the schema has words for them', () => {
  assert.deepEqual(complete('spec:\n  runStrategy: '), ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once']);
  assert.deepEqual(complete('spec:\n  running: t'), ['true', 'false']);
  assert.deepEqual([complete('spec:\n  nothing: '), complete('nowhere:\n  a')], [[], []]);
});

test('the path of a line is that of the keys it is below', () => {
  assert.deepEqual(pathAbove(['a:', '  x: 1', '  b:', '  - c: 1', '    d:', '      - e: 1'], '        '), ['a', 'b', 'd']);
  assert.deepEqual(pathAbove(['a:', '  b: 1', '# c:', ''], ''), []);
});

test('a diff has what differs and its neighbourhood', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const found = deriveDiff(lines.join('\n'), lines.with(10, 'other').join('\n')).map(({ sign, text }) => `${sign}${text}`);
  assert.deepEqual(found, ['…', ' line 7', ' line 8', ' line 9', '-line 10', '+other', ' line 11', ' line 12', ' line 13', '…']);
  assert.deepEqual(deriveDiff('same', 'same'), []);
});

test('characters that would turn a line around are written out where changes are shown', () => {
  assert.deepEqual(deriveDiff('a', 'a: \u202e\u001b[2J'), [
    { sign: '-', text: 'a' },
    { sign: '+', text: 'a: \\u202e\\u001b[2J' },
  ]);
});

test('texts that are too long to be compared line by line are gone and come', () => {
  const many = (word: string) => Array.from({ length: 1500 }, (_, index) => `${word}${index}`).join('\n');
  assert.equal(deriveDiff(many('a'), many('b')).length, 3000);
});

test('changes are put on what others wrote since; where both changed a field, ours holds', () => {
  const base = vm('Manual', {}, { labels: { app: 'a' } });
  const mine = { ...base, spec: { ...base.spec, runStrategy: 'Always' as const } };
  const theirs = vm('Halted', { ready: true }, { labels: { app: 'b' }, resourceVersion: '9' });
  const found = onto(theirs, { base, mine }) as typeof base;
  assert.deepEqual(
    [found.spec.runStrategy, found.metadata.labels, found.metadata.resourceVersion, found.status],
    ['Always', { app: 'b' }, '9', { ready: true }],
  );
});

test('an object stays the one it is, and what only programs read is not shown', () => {
  const object = vm('Always');
  assert.deepEqual(editedObject(structuredClone(object), object), { object });
  for (const other of [undefined, [], { ...object, kind: 'Pod' }, { ...object, metadata: { name: 'other' } }])
    assert.ok('why' in editedObject(other, object));
  assert.equal('managedFields' in shownObject({ ...object, metadata: { ...object.metadata, managedFields: [] } }).metadata, false);
});

test('what the components say about an object is no change by others', () => {
  const { metadata, ...rest } = vm('Always');
  const entry = {
    manager: 'virt-controller',
    operation: 'Update' as const,
    apiVersion: 'kubevirt.io/v1',
    fieldsType: 'FieldsV1' as const,
    fieldsV1: {},
  };
  const told = { ...rest, metadata: { ...metadata, resourceVersion: '2', generation: 2, managedFields: [entry] }, status: { ready: true } };
  const base = { ...rest, metadata: { ...metadata, resourceVersion: '1' } };
  const labelled = { ...told, metadata: { ...told.metadata, labels: { a: 'b' } } };
  const halted = { ...told, spec: { ...told.spec, runStrategy: 'Halted' as const } };
  assert.deepEqual(
    [told, labelled, halted].map((now) => isChangedByOthers(base, now)),
    [false, true, true],
  );
});
