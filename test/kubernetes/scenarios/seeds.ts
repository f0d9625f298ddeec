/** The sessions of the documents this project grew from, and one of KubeVirt's own virtctl, unchanged, as on the embedded cluster. */
import { join, resolve } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { ensureUpstreamVirtctl, upstreamVirtctlSkipReason } from '../../../tools/upstream-virtctl/build.ts';
import { replay } from '../../conformance/seeds/replay.ts';
import { useUpstreamDisks, useUpstreamVirtctl, useUpstreamVolumes } from '../../conformance/upstream-virtctl/script.ts';
import { pushGuest } from '../push-images.ts';
import type { World } from './world.ts';

const SEEDS = resolve(import.meta.dirname, '../../conformance/seeds');
/** What the manifests of the documents call the guest that is `tiny32` here. */
const IMAGES = ['kubevirt/cirros-container-disk-demo:latest', 'kubevirt/cirros-registry-disk-demo:latest'];
const TRANSCRIPTS = [
  '000-virtual-machine.txt',
  '001-virtual-machine.txt',
  '002-virtual-machine-config.txt',
  '003-offline-virtual-machine.txt',
];

export function seedScenarios(world: World): void {
  describe('the sessions of the documents', () => {
    before(async () => {
      await untilGarbageIsCollected(world);
      for (const image of IMAGES) await pushGuest(world.cluster, 'tiny32', image);
      await pushGuest(world.cluster, 'agent', 'guests/agent:latest');
    });
    /** A session may leave its machines to the reader. */
    const clearAfter = (t: TestContext) =>
      t.after(() => world.kubectl('delete', 'ovm,vm,vmi,vmic,vmexport,dv,pvc,secret', '--all', '--timeout=400s'));

    for (const transcript of TRANSCRIPTS) {
      test(`the session of ${transcript}`, async (t) => {
        clearAfter(t);
        await replay(join(SEEDS, transcript), world.session(t));
      });
    }

    test("KubeVirt's own virtctl", { skip: upstreamVirtctlSkipReason() }, async (t) => {
      clearAfter(t);
      const session = world.session(t, ensureUpstreamVirtctl());
      await useUpstreamVirtctl(t, session);
      await useUpstreamDisks(t, session);
      await useUpstreamVolumes(t, session);
    });
  });
}

/** Kubernetes looks twice a minute for kinds that are new; until then it neither collects nor orphans what belongs to their objects. */
async function untilGarbageIsCollected(world: World): Promise<void> {
  await world.kubectl('create', 'configmap', 'owner');
  const uid = await world.kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}');
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
  const metadata = { name: 'owned', namespace: world.namespace, ownerReferences };
  const { template } = (world.machine('owned') as { spec: { template: object } }).spec;
  await world.apply({ apiVersion: 'kubevirt.io/v1alpha2', kind: 'VirtualMachineInstanceConfig', metadata, spec: { template } });
  await world.kubectl('delete', 'configmap', 'owner');
  await world.kubectl('wait', 'vmic/owned', '--for=delete', '--timeout=400s');
}
