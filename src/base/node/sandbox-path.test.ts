import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandboxPath } from './sandbox-path.ts';

test('a mounted path is itself on a cluster', () => {
  assert.equal(sandboxPath('/var/run/kubevirt', {}), '/var/run/kubevirt');
});

test('a mounted path is under the sandbox of an embedded Pod', () => {
  assert.equal(sandboxPath('/var/run/kubevirt', { CONTAINER_SANDBOX_MOUNT_POINT: '/pods/1/sandbox' }), '/pods/1/sandbox/var/run/kubevirt');
});

test('dots do not lead out of the sandbox', () => {
  assert.equal(sandboxPath('/../../etc/shadow', { CONTAINER_SANDBOX_MOUNT_POINT: '/pods/1/sandbox' }), '/pods/1/sandbox/etc/shadow');
});
