import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { DEFAULT_CONFIGURATION } from '../api/kubevirt/configuration/cluster-configuration.ts';
import { OFFLINE_VMS } from '../api/kubevirt/kinds/offline-virtual-machine.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VMI_CONFIGS } from '../api/kubevirt/kinds/vmi-config.ts';
import { controllerReferenceTo, type KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { silentLogger } from '../base/log.ts';
import { startTestServer, type TestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { tinySpec } from '../testing/builders.ts';
import { requireAccess } from './require-access.ts';
import { vmChange } from './subresources/change-vm.ts';
import { restartOfflineVm, startOfflineVm, stopOfflineVm } from './subresources/offline-vm.ts';
import { startFromConfig, stopFromConfig } from './subresources/vmi-config.ts';

const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};

/** The conditions in our patches, dry runs and the status subresource are promises of the server: here is the real one. */
const [start, stop, restart] = [vmChange('start'), vmChange('stop'), vmChange('restart')];

describe('start, stop and restart on the real API server', { timeout: 60_000 }, () => {
  let api: TestServer;

  before(async () => {
    api = await startTestServer();
    for (const name of ['virtualmachines', 'virtualmachineinstances', 'offlinevirtualmachines', 'virtualmachineinstanceconfigs']) {
      const text = await readFile(new URL(`../../deploy/crds/${name}.yaml`, import.meta.url), 'utf8');
      await api.client.create(CRDS, parse(text) as KubeObject);
    }
  });
  after(() => api.close());

  const created = (name: string, spec: object) =>
    api.client.create(VMS, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { name, namespace: 'default' },
      spec: { ...spec, template: { spec: tinySpec } },
    } as VirtualMachine);
  const runs = (name: string) =>
    api.client.create(VMIS, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { name, namespace: 'default' },
      spec: tinySpec,
      status: { phase: 'Running' },
    });
  const call = (name: string, body: object = {}) => ({
    client: api.client,
    configuration: DEFAULT_CONFIGURATION,
    log: silentLogger,
    namespace: 'default',
    name,
    user: 'admin',
    handlerTls: {},
    request: new Request('https://virt-api/', { method: 'PUT', body: JSON.stringify(body) }),
  });
  const theVm = (name: string) => api.client.get(VMS, { namespace: 'default', name });

  test('a halted machine is started and stopped in its own spelling', async () => {
    await created('old', { running: false });
    assert.equal((await start(call('old'))).status, 202);
    assert.deepEqual([(await theVm('old'))?.spec.running, (await theVm('old'))?.spec.runStrategy], [true, undefined]);
    await stop(call('old'));
    assert.equal((await theVm('old'))?.spec.running, false);
  });

  test('a dry run changes nothing', async () => {
    await created('dry', { runStrategy: 'Halted' });
    assert.equal((await start(call('dry', { dryRun: ['All'] }))).status, 202);
    assert.equal((await theVm('dry'))?.spec.runStrategy, 'Halted');
  });

  test('a restart is written to the status and shortens the grace period', async () => {
    await created('busy', { runStrategy: 'Always' });
    const { metadata } = await runs('busy');
    await restart(call('busy', { gracePeriodSeconds: 0 }));
    assert.deepEqual((await theVm('busy'))?.status?.stateChangeRequests, [{ action: 'Stop', uid: metadata.uid }, { action: 'Start' }]);
    assert.equal((await api.client.get(VMIS, { namespace: 'default', name: 'busy' }))?.spec.terminationGracePeriodSeconds, 1);
  });

  test('of many starts at once one wins', async () => {
    await created('rush', { runStrategy: 'Manual' });
    const codes = await Promise.all(
      Array.from({ length: 5 }, () =>
        start(call('rush')).then(
          ({ status }) => status,
          ({ code }) => code,
        ),
      ),
    );
    assert.deepEqual(codes.toSorted(), [202, 500, 500, 500, 500]);
    assert.deepEqual((await theVm('rush'))?.status?.stateChangeRequests, [{ action: 'Start' }]);
  });

  test('an OfflineVirtualMachine is started, restarted by deleting its VM, and stopped', async () => {
    const at = { namespace: 'default', name: 'old-one' };
    const ovm = await api.client.create(OFFLINE_VMS, {
      apiVersion: 'kubevirt.io/v1alpha1',
      kind: 'OfflineVirtualMachine',
      metadata: at,
      spec: { running: false, template: { spec: tinySpec } },
    });
    await assert.rejects(stopOfflineVm(call('old-one')), { reason: 'Conflict' });
    await assert.rejects(restartOfflineVm(call('old-one')), { reason: 'Conflict' });
    await startOfflineVm(call('old-one', { dryRun: ['All'] }));
    assert.equal((await api.client.get(OFFLINE_VMS, at))?.spec.running, false);
    assert.equal((await startOfflineVm(call('old-one'))).status, 202);
    await assert.rejects(startOfflineVm(call('old-one')), { reason: 'Conflict' });
    await api.client.create(VMS, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { ...at, ownerReferences: [controllerReferenceTo(ovm)] },
      spec: { running: true, template: { spec: tinySpec } },
    });
    await assert.rejects(stop(call('old-one')), /OfflineVirtualMachine old-one keeps it running; stop that/);
    await restartOfflineVm(call('old-one'));
    assert.equal(await theVm('old-one'), undefined);
    await stopOfflineVm(call('old-one'));
    assert.equal((await api.client.get(OFFLINE_VMS, at))?.spec.running, false);
    await assert.rejects(startOfflineVm(call('nobody')), { reason: 'NotFound' });
  });

  test('a configuration starts an instance again and again, and stops its own', async () => {
    await api.client.create(VMI_CONFIGS, {
      apiVersion: 'kubevirt.io/v1alpha2',
      kind: 'VirtualMachineInstanceConfig',
      metadata: { namespace: 'default', name: 'c1' },
      spec: { template: { metadata: { labels: { from: 'c1' } }, spec: tinySpec } },
    });
    const instances = async () => (await api.client.list(VMIS, { namespace: 'default', labelSelector: 'from=c1' })).items;
    await assert.rejects(stopFromConfig(call('c1')), { reason: 'Conflict' });
    const made = (await (await startFromConfig(call('c1'))).json()) as KubeObject;
    assert.match(made.metadata.name, /^c1-\w{5}$/);
    await startFromConfig(call('c1'));
    await startFromConfig(call('c1', { dryRun: ['All'] }));
    assert.equal((await instances()).length, 2);
    const left = async () => (await instances()).filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
    await stopFromConfig(call('c1', { name: made.metadata.name }));
    assert.deepEqual((await left()).includes(made.metadata.name), false);
    await assert.rejects(stopFromConfig(call('c1', { name: 'somebody' })), { reason: 'Conflict' });
    await stopFromConfig(call('c1'));
    assert.deepEqual(await left(), []);
  });

  test('whoever may only get a configuration cannot start it by GET', async () => {
    const attributes = {
      resource: 'virtualmachineinstanceconfigs',
      subresource: 'start',
      namespace: 'default',
      name: 'c1',
      verb: 'update',
    } as const;
    const ask = (user: string, ...groups: string[]) => requireAccess(api.client, { user, groups, extra: { scopes: ['a'] } }, attributes);
    await assert.rejects(ask('viewer', 'system:authenticated'), { reason: 'Forbidden' });
    await assert.rejects(ask('viewer', 'system:authenticated, system:masters'), { reason: 'Forbidden' });
    await ask('boss', 'system:authenticated', 'system:masters');
  });
});
