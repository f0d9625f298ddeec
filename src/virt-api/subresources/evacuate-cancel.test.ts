import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../api/core/node.ts';
import { DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { silentLogger } from '../../base/log.ts';
import { FakeApi } from '../fake-api.testing.ts';
import type { SubresourceCall } from '../subresource-call.ts';
import { cancelEvacuation } from './evacuate-cancel.ts';

function world(evacuationNodeName?: string, taints: Node['spec'] = {}) {
  const api = new FakeApi();
  api.put('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: taints } as Node);
  const status = { phase: 'Running', nodeName: 'n1', ...(evacuationNodeName && { evacuationNodeName }) };
  const metadata = { name: 'db', namespace: 'default', uid: 'u1' };
  api.put('virtualmachineinstances', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata,
    status,
  } as object as VirtualMachineInstance);
  const ask = (body: object, name = 'db') => {
    const request = new Request('https://virt-api/x', { method: 'PUT', body: JSON.stringify(body) });
    const asked = {
      client: api.client,
      configuration: DEFAULT_CONFIGURATION,
      log: silentLogger,
      user: 'me',
      namespace: 'default',
      name,
      request,
    };
    return cancelEvacuation(asked as SubresourceCall);
  };
  const mark = () => api.get<VirtualMachineInstance>('virtualmachineinstances', 'db')?.status?.evacuationNodeName;
  return { ask, mark };
}

test('the mark of an evacuation goes, and a second time there is nothing to do', async () => {
  const { ask, mark } = world('n1');
  assert.equal((await ask({})).status, 200);
  assert.equal(mark(), undefined);
  assert.equal((await ask({})).status, 200);
});

test('a dry run changes nothing', async () => {
  const { ask, mark } = world('n1');
  assert.equal((await ask({ dryRun: ['All'] })).status, 200);
  assert.equal(mark(), 'n1');
});

test('whoever names a node means that one', async () => {
  const { ask, mark } = world('n1');
  await assert.rejects(ask({ evacuationNodeName: 'n2' }), { reason: 'Conflict' });
  await assert.rejects(ask({ evacuationNodeName: 7 }), { reason: 'BadRequest' });
  assert.equal(mark(), 'n1');
  await ask({ evacuationNodeName: 'n1' });
  assert.equal(mark(), undefined);
});

test('a machine leaves a node that has the taint for it whatever its mark is, which is said', async () => {
  const { ask, mark } = world('n1', { taints: [{ key: 'kubevirt.io/drain', effect: 'NoSchedule' }] });
  await assert.rejects(ask({}), { reason: 'BadRequest', message: /node n1 has the taint kubevirt.io\/drain/ });
  assert.equal(mark(), 'n1');
  const { ask: askElsewhere } = world('n1', { taints: [{ key: 'kubevirt.io/drain', effect: 'PreferNoSchedule' }] });
  assert.equal((await askElsewhere({})).status, 200);
});

test('a machine without an instance has none', async () => {
  await assert.rejects(world().ask({}, 'none'), { reason: 'NotFound' });
});
