import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinySpec } from '../../testing/builders.ts';
import { volumesOf } from './content-for.ts';

test('disks with a PVC are kept; what is made anew, only read or shared as a folder is not', () => {
  const volumes = [
    { name: 'root', persistentVolumeClaim: { claimName: 'a' } },
    { name: 'seen', persistentVolumeClaim: { claimName: 'b', readOnly: true } },
    { name: 'work', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'new', emptyDisk: { capacity: '1Gi' } },
  ];
  const { domain } = tinySpec;
  const devices = { ...domain.devices, filesystems: [{ name: 'work', virtiofs: {} }] };
  assert.deepEqual(volumesOf({ domain: { ...domain, devices }, volumes }), {
    included: [{ volumeName: 'root', claimName: 'a' }],
    excluded: ['seen', 'work', 'new'],
  });
});
