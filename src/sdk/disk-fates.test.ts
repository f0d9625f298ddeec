import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import { ANNOTATION_SHARED_FOLDER } from '../api/kubevirt/names.ts';
import { vm } from '../testing/builders.ts';
import { diskFates } from './disk-fates.ts';

const claim = (name: string, owner?: { readonly kind: string; readonly name: string; readonly uid: string }): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', ...(owner && { ownerReferences: [{ apiVersion: 'v1', ...owner }] }) },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});

test('what belongs to the machine or to a DataVolume of its templates is lost, what is of others stays, what is not there is not named', () => {
  const { template, ...spec } = vm('Halted').spec;
  const volumes = ['own', 'filled', 'shared', 'gone'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const machine = {
    ...vm('Halted'),
    spec: {
      ...spec,
      dataVolumeTemplates: [{ metadata: { name: 'filled' }, spec: {} }],
      template: { ...template, spec: { ...template.spec, volumes } },
    },
  };
  const claims = [
    claim('own', { kind: 'VirtualMachine', name: machine.metadata.name, uid: machine.metadata.uid ?? '' }),
    claim('filled', { kind: 'DataVolume', name: 'filled', uid: 'dv' }),
    claim('shared', { kind: 'VirtualMachine', name: 'other', uid: 'other' }),
    claim('before-a-restore', { kind: 'VirtualMachine', name: machine.metadata.name, uid: machine.metadata.uid ?? '' }),
    claim('nobody'),
  ];
  assert.deepEqual(diskFates(machine, claims), [
    { name: 'own', size: '1Gi', isLost: true },
    { name: 'filled', size: '1Gi', isLost: true },
    { name: 'shared', size: '1Gi', isLost: false },
    { name: 'before-a-restore', size: '1Gi', isLost: true },
  ]);
});

test('a folder of the host that the machine shares stays, and is no disk', () => {
  const machine = vm('Halted');
  const shared = claim('mount0', { kind: 'VirtualMachine', name: machine.metadata.name, uid: machine.metadata.uid ?? '' });
  const told = { ...shared, metadata: { ...shared.metadata, annotations: { [ANNOTATION_SHARED_FOLDER]: '/home/me/src' } } };
  assert.deepEqual(diskFates(machine, [told]), [{ name: 'mount0', size: '', isLost: false, folder: '/home/me/src' }]);
});
