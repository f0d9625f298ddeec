import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { type VirtualMachine, VMS } from '../api/kubevirt/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/virtual-machine-instance.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { silentLogger } from '../base/log.ts';
import { startTestServer, type TestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { tinySpec } from '../testing/builders.ts';
import { restart } from './subresources/restart.ts';
import { start } from './subresources/start.ts';
import { stop } from './subresources/stop.ts';

const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  isNamespaced: false,
};

/** The conditions in our patches, dry runs and the status subresource are promises of the server: here is the real one. */
describe('start, stop and restart on the real API server', { timeout: 60_000 }, () => {
  let api: TestServer;

  before(async () => {
    api = await startTestServer();
    for (const name of ['virtualmachines', 'virtualmachineinstances']) {
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
});
