import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandVmSpecPath, portForwardPath, type SubresourceTarget, subresourceGroupPath, subresourcePath } from './subresource-path.ts';

const DB: SubresourceTarget = { resource: 'virtualmachineinstances', namespace: 'default', name: 'db' };
const AT_DB = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db';

test('a subresource has its path below its machine', () => {
  assert.equal(subresourcePath(DB, 'pause'), `${AT_DB}/pause`);
  assert.equal(portForwardPath(DB, 53, 'udp'), `${AT_DB}/portforward/53/udp`);
});

test('a query has what was asked, and nothing else', () => {
  assert.equal(subresourcePath(DB, 'console', {}), `${AT_DB}/console`);
  assert.equal(subresourcePath(DB, 'console', { shared: true, write: false }), `${AT_DB}/console?shared=true&write=false`);
});

test('no name leaves its place in the path', () => {
  assert.equal(subresourcePath({ ...DB, name: 'a/../b?c' }, 'start'), `${AT_DB.replace(/db$/, 'a%2F..%2Fb%3Fc')}/start`);
});

test('some paths have no machine', () => {
  assert.equal(subresourceGroupPath('version'), '/apis/subresources.kubevirt.io/v1/version');
  assert.equal(expandVmSpecPath('default'), '/apis/subresources.kubevirt.io/v1/namespaces/default/expand-vm-spec');
  assert.equal(subresourceGroupPath('healthz', 'v1alpha3'), '/apis/subresources.kubevirt.io/v1alpha3/healthz');
});
