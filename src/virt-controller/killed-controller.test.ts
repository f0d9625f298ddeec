/** virt-controller at the real API server, killed between the copy of an instance type and the machine, and types and pools that change under it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CONTROLLER_REVISIONS } from '../api/core/controller-revision.ts';
import { PODS } from '../api/core/pod.ts';
import { INSTANCETYPES, type VirtualMachineInstancetype } from '../api/kubevirt/kinds/instancetype.ts';
import { POOLS } from '../api/kubevirt/kinds/pool.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { conditionOf, type KubeObject } from '../api/meta.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import { applyManifests } from '../cmd/embedded/apply-manifests.ts';
import { startTestServer, type TestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { until } from '../testing/until.ts';
import { runVirtController } from './run.ts';

const CRDS = join(import.meta.dirname, '../../deploy/crds');
const IN = { namespace: 'default' };
const kind = 'VirtualMachineInstancetype';

function size(name: string, guest: number): VirtualMachineInstancetype {
  const spec = { cpu: { guest }, memory: { guest: '64Mi' } };
  return { apiVersion: 'instancetype.kubevirt.io/v1beta1', kind, metadata: { name, ...IN }, spec };
}
function specOf(type: string): VirtualMachine['spec'] {
  return { runStrategy: 'Always', instancetype: { name: type, kind }, template: { spec: { domain: { devices: {} } } } };
}
function machine(name: string, type: string): VirtualMachine {
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name, ...IN }, spec: specOf(type) };
}

const BEGAN = systemClock.now();
/** Twenty times as fast: a machine whose instance was ended before it ran waits ten seconds for the next. */
const FAST: Clock = {
  ...systemClock,
  now: () => BEGAN + (systemClock.now() - BEGAN) * 20,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
};

/** A client whose process is killed after so many writes: the last one arrives, and nothing after it. */
function killedAfter(client: Client, writes: number): { readonly client: Client; readonly isDead: () => boolean } {
  let left = writes;
  const write =
    <Arguments extends unknown[], Answer>(send: (...args: Arguments) => Promise<Answer>) =>
    async (...args: Arguments): Promise<Answer> => {
      if (left <= 0) throw new Error('killed');
      left -= 1;
      const answer = await send(...args);
      if (left <= 0) throw new Error('killed before the answer was read');
      return answer;
    };
  const dying = { ...client, create: write(client.create), patch: write(client.patch), delete: write(client.delete) } as Client; // the same signatures
  return { client: dying, isDead: () => left <= 0 };
}

describe('a controller that is killed, and types that change under it', { timeout: 120_000 }, () => {
  let api: TestServer;
  before(async () => {
    api = await startTestServer();
    await applyManifests(api.client, CRDS, (object) => object);
  });
  after(() => api.close());

  /** Until what is done with it is done. */
  async function whileRunning(client: Client, work: () => Promise<void>, clock = systemClock): Promise<void> {
    const stop = new AbortController();
    const stopped = runVirtController({ client, clock, log: silentLogger, signal: stop.signal });
    try {
      await work();
    } finally {
      stop.abort();
      await stopped;
    }
  }
  const theVm = async (name: string) => (await api.client.get(VMS, { ...IN, name })) ?? assert.fail(`there is no ${name}`);
  const theVmi = (name: string) => api.client.get(VMIS, { ...IN, name });
  const ownedBy = async (name: string) => {
    const { items } = await api.client.list(CONTROLLER_REVISIONS, IN);
    return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name));
  };
  const uidsOf = (objects: readonly KubeObject[]) => new Map(objects.map(({ metadata }) => [metadata.name, metadata.uid]));
  /** What the status says that it is made with. */
  const toldSize = async (vm: VirtualMachine) => {
    const copy = vm.status?.instancetypeRef?.controllerRevisionRef?.name ?? '';
    const revision = (await ownedBy(vm.metadata.name)).find(({ metadata }) => metadata.name === copy);
    return (revision?.data as VirtualMachineInstancetype | undefined)?.spec.cpu.guest;
  };
  const isUp = async (name: string) => (await theVm(name)).status?.created === true;
  const sizeOf = (vmi: VirtualMachineInstance | undefined) => vmi?.spec.domain.cpu?.sockets;

  test('what it left behind is used again after each of its writes, and nothing is there twice', async () => {
    await api.client.create(INSTANCETYPES, size('still', 2));
    // finalizer, copy, its name in the status, revision of the start, instance, its Pod
    for (let writes = 1; writes <= 6; writes++) {
      const name = `killed-${writes}`;
      await api.client.create(VMS, machine(name, 'still'));
      const first = killedAfter(api.client, writes);
      await whileRunning(first.client, () => until(first.isDead, 'the end of the first'));
      const before = uidsOf(await ownedBy(name));
      const vmiBefore = await theVmi(name);
      await whileRunning(api.client, async () => {
        await until(async () => (await isUp(name)) && (await podsOf(name)).length > 0, `${name} to be up`);
      });
      const after = uidsOf(await ownedBy(name));
      assert.equal(after.size, 2, `one copy and one start after ${writes} writes: ${[...after.keys()]}`);
      for (const [revision, uid] of before) assert.equal(after.get(revision), uid, `${revision} after ${writes} writes`);
      const vmi = await theVmi(name);
      if (vmiBefore) assert.equal(vmi?.metadata.uid, vmiBefore.metadata.uid);
      assert.deepEqual([sizeOf(vmi), (await podsOf(name)).length], [2, 1], `after ${writes} writes`);
    }
  });

  const podsOf = async (name: string) => {
    const { items } = await api.client.list(PODS, IN);
    return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name));
  };

  test('a type that is edited and deleted while machines start: each is of the size that its status tells, or says what is missing', async () => {
    await api.client.create(INSTANCETYPES, size('moving', 1));
    const names = Array.from({ length: 20 }, (_, index) => `moving-${index}`);
    await whileRunning(api.client, async () => {
      for (const [index, name] of names.entries()) {
        await api.client.create(VMS, machine(name, 'moving'));
        if (index < 15) await api.client.patch(INSTANCETYPES, { ...IN, name: 'moving' }, { spec: { cpu: { guest: index + 2 } } });
        if (index === 15) await api.client.delete(INSTANCETYPES, { ...IN, name: 'moving' });
      }
      const failureOf = async (name: string) => conditionOf((await theVm(name)).status?.conditions, 'Failure')?.reason;
      for (const name of names) await until(async () => (await isUp(name)) || (await failureOf(name)) !== undefined, name);
      for (const name of names) {
        const vm = await theVm(name);
        if (vm.status?.created) assert.equal(sizeOf(await theVmi(name)), await toldSize(vm), name);
        else assert.equal(await failureOf(name), 'FailedFindInstancetype', name);
      }
      assert.equal(await failureOf('moving-19'), 'FailedFindInstancetype', 'it was gone by then');
      await api.client.create(INSTANCETYPES, size('moving', 3));
      for (const name of names) await until(() => isUp(name), `${name} to start when the type is there again`);
      assert.deepEqual([sizeOf(await theVmi('moving-19')), await failureOf('moving-19')], [3, undefined]);
    });
    assert.equal((await api.client.list(VMIS, IN)).items.filter(({ metadata }) => names.includes(metadata.name)).length, 20);
  });

  test('a pool that is edited while it rolls ends at its last word, with as many machines as before', async () => {
    for (const [name, guest] of [['a', 1], ['b', 2], ['c', 3]] as const) await api.client.create(INSTANCETYPES, size(name, guest)); // biome-ignore format: one line
    const labels = { app: 'rolled' };
    const virtualMachineTemplate = { metadata: { labels }, spec: specOf('a') };
    const spec = { replicas: 4, selector: { matchLabels: labels }, virtualMachineTemplate };
    const metadata = { name: 'rolled', ...IN };
    await api.client.create(POOLS, { apiVersion: 'pool.kubevirt.io/v1beta1', kind: 'VirtualMachinePool', metadata, spec });
    const instances = async () => (await api.client.list(VMIS, IN)).items.filter(({ metadata: { name } }) => name.startsWith('rolled-'));
    const areOf = async (guest: number) => {
      const all = await instances();
      return all.length === 4 && all.every((vmi) => sizeOf(vmi) === guest && !vmi.metadata.deletionTimestamp);
    };
    const rolling = async () => {
      await until(() => areOf(1), 'four of the first size');
      for (const name of ['b', 'a', 'c'])
        await api.client.patch(POOLS, metadata, { spec: { virtualMachineTemplate: { spec: { instancetype: { name } } } } });
      await until(() => areOf(3), 'four of the last size');
    };
    await whileRunning(api.client, rolling, FAST);
    const { items } = await api.client.list(VMS, { ...IN, labelSelector: 'app=rolled' });
    assert.deepEqual(items.map((vm) => vm.metadata.name).sort(), ['rolled-0', 'rolled-1', 'rolled-2', 'rolled-3']);
  });
});
