/** virt-controller at the real API server, where somebody has installed a CDI: that one fills DataVolumes, machines use them, and ours stays out of its way. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { PODS } from '../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { CDI_ANNOTATIONS } from '../api/kubevirt/names.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { applyManifests } from '../cmd/embedded/apply-manifests.ts';
import { startTestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { until } from '../testing/until.ts';
import { runVirtController } from './run.ts';

const CRDS = join(import.meta.dirname, '../../deploy/crds');
const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', kind: 'CustomResourceDefinition' };
const IN = { namespace: 'default' };
/** What only a CDI has: its own installation. */
const OF_CDI = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'cdis.cdi.kubevirt.io' },
  spec: {
    group: 'cdi.kubevirt.io',
    scope: 'Cluster',
    names: { kind: 'CDI', plural: 'cdis' },
    versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
/** Longer than ours takes to make a PVC and a Pod. */
const LONG_MS = 2_000;

test('a CDI fills what a machine asks for, and ours makes neither PVC nor Pod', { timeout: 60_000 }, async (t) => {
  const { client, close } = await startTestServer();
  await applyManifests(client, CRDS, (object) => object);
  await client.create({ ...DEFINITIONS, isNamespaced: false }, OF_CDI);
  const stop = new AbortController();
  const ended = runVirtController({ client, clock: systemClock, log: silentLogger, signal: stop.signal });
  t.after(async () => {
    stop.abort();
    await ended;
    close();
  });
  const resources = { requests: { storage: '1Gi' } };
  await client.create(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...IN, name: 'sent', annotations: { [CDI_ANNOTATIONS.uploadTarget]: '' } },
    spec: { accessModes: ['ReadWriteOnce'], resources },
  });
  const volumes = [{ name: 'root', dataVolume: { name: 'root' } }];
  const disks = [{ name: 'root', disk: { bus: 'virtio' as const } }];
  await client.create(VMS, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { ...IN, name: 'db' },
    spec: {
      runStrategy: 'Always',
      dataVolumeTemplates: [{ metadata: { name: 'root' }, spec: { source: { blank: {} }, storage: { resources } } }],
      template: { spec: { domain: { memory: { guest: '64Mi' }, devices: { disks } }, volumes } },
    },
  });
  const at = { ...IN, name: 'root' };
  await until(async () => (await client.get(DATA_VOLUMES, at)) !== undefined, 'the DataVolume');
  await systemClock.sleep(LONG_MS); // that nothing happens has no event
  const seen = [
    await client.get(PERSISTENT_VOLUME_CLAIMS, at),
    (await client.get(DATA_VOLUMES, at))?.status,
    (await client.list(PODS)).items.length,
  ];
  assert.deepEqual(seen, [undefined, undefined, 0]);
  assert.equal(await client.get(VMIS, { ...IN, name: 'db' }), undefined);
  await client.create(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: at,
    spec: { accessModes: ['ReadWriteOnce'], resources },
  });
  await client.patch(DATA_VOLUMES, at, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
  await until(async () => (await client.get(VMIS, { ...IN, name: 'db' })) !== undefined, 'the instance');
});
