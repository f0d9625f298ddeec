import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servingAddress } from './serving-address.ts';

test('a Pod of a cluster is reached by forwarded ports, one of an embedded cluster takes no address of others', () => {
  assert.equal(servingAddress('10.0.0.1', {}), '0.0.0.0');
  assert.equal(servingAddress('fd00::1', {}), '::');
  assert.equal(servingAddress('10.0.0.1', { CONTAINER_SANDBOX_MOUNT_POINT: '/pod' }), '10.0.0.1');
});
