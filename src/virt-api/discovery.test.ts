import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guestfsImageOf } from '../api/kubevirt/guestfs.ts';
import { discoveryAnswer } from './discovery.ts';

const PATH = '/apis/subresources.kubevirt.io/v1/guestfs';

test('an installation names its image with tools for disks, so that every virtctl finds it', async () => {
  const answer = discoveryAnswer(PATH, { version: 'v1', toolsImage: 'r/libguestfs-tools:1' });
  const info = await answer?.json();
  assert.deepEqual(info, { registry: '', tag: '', imagePrefix: '', digest: '', gsImage: 'r/libguestfs-tools:1' });
  assert.equal(guestfsImageOf(info), 'r/libguestfs-tools:1');
});

test('one that has none says so', () => {
  assert.throws(() => discoveryAnswer(PATH, { version: 'v1' }), { reason: 'BadRequest' });
});
