import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

function written(flags: Omit<Parameters<typeof run>[1], 'sourceName'>): { spec: object; metadata: { name: string } } {
  const { deps, stdout } = testDeps({});
  run(deps, { sourceName: 'db', ...flags });
  return parse(stdout());
}

test('the least is a source; a name is made up', () => {
  const { spec, metadata } = written({});
  assert.deepEqual(spec, { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' } });
  assert.match(metadata.name, /^clone-[a-z0-9]{5}$/);
});

test('everything that a clone may say can be said', () => {
  const { spec } = written({
    sourceType: 'snapshot',
    targetName: 'copy',
    labelFilter: ['*', '!team/*'],
    templateAnnotationFilter: ['note'],
    newMacAddress: ['default:02:00:00:12:34:56'],
    newSmbiosSerial: 'x-1',
  });
  assert.deepEqual(spec, {
    source: { apiGroup: 'snapshot.kubevirt.io', kind: 'VirtualMachineSnapshot', name: 'db' },
    target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'copy' },
    labelFilters: ['*', '!team/*'],
    template: { annotationFilters: ['note'] },
    newMacAddresses: { default: '02:00:00:12:34:56' },
    newSMBiosSerial: 'x-1',
  });
});

test('a type that is not known and an address of nothing are refused', () => {
  assert.throws(() => written({ sourceType: 'pod' }), /--source-type pod is not known/);
  assert.throws(() => written({ newMacAddress: ['02'] }), /names no interface/);
});
