import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinySpec } from '../../testing/builders.ts';
import { copiedDisksOf } from './copied-disks.ts';

test('what the guest has written on its node alone is copied, by the place of each disk', () => {
  const disk = (name: string) => ({ name, disk: {} });
  const spec = {
    ...tinySpec,
    domain: {
      ...tinySpec.domain,
      devices: { disks: [disk('shared'), disk('root'), disk('seed'), { name: 'cd', cdrom: {} }, disk('scratch')] },
    },
    volumes: [
      { name: 'shared', persistentVolumeClaim: { claimName: 'c' } },
      { name: 'root', containerDisk: { image: 'i' } },
      { name: 'seed', cloudInitNoCloud: { userData: '#' } },
      { name: 'cd', containerDisk: { image: 'i' } },
      { name: 'scratch', emptyDisk: { capacity: '1Gi' } },
    ],
  };
  assert.deepEqual(copiedDisksOf(spec), ['image1', 'image4']);
});
