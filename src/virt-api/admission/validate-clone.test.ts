import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateClone } from './validate-clone.ts';

const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' };
const wrong = (spec: object) => validateClone({ spec } as never).map(({ field }) => field);

test('a clone is of a machine or a snapshot', () => {
  assert.deepEqual(wrong({ source }), []);
  assert.deepEqual(wrong({ source: { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: 'before' } }), []);
  assert.deepEqual(wrong({ source: { ...source, kind: 'Pod' } }), ['spec.source.kind']);
  assert.deepEqual(wrong({ source: { ...source, apiGroup: 'apps' } }), ['spec.source.apiGroup']);
  assert.deepEqual(wrong({ source: { ...source, name: '' } }), ['spec.source.name']);
  assert.deepEqual(wrong({}), ['spec.source']);
});

test('a clone needs no name for its target', () => {
  assert.deepEqual(wrong({ source, target: { ...source, name: 'copy' } }), []);
  assert.deepEqual(wrong({ source, target: source }), ['spec.target.name']);
  assert.deepEqual(wrong({ source, target: { kind: 'VirtualMachineSnapshot', name: 'x' } }), ['spec.target.kind']);
});

test('filters are keys with stars', () => {
  assert.deepEqual(wrong({ source, labelFilters: ['*', '!team/*', 'app\\.io/.*'], template: { annotationFilters: ['a'] } }), []);
  assert.deepEqual(wrong({ source, labelFilters: ['(a+)+$'], template: { annotationFilters: ['[a]'] } }), [
    'spec.labelFilters[0]',
    'spec.template.annotationFilters[0]',
  ]);
});

test('an address is one', () => {
  assert.deepEqual(wrong({ source, newMacAddresses: { default: '02:00:00:12:34:56' } }), []);
  assert.deepEqual(wrong({ source, newMacAddresses: { default: 'x' } }), ['spec.newMacAddresses[default]']);
});
