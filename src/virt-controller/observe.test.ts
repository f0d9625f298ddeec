import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONTROLLER_REVISIONS } from '../api/core/controller-revision.ts';
import { NODES } from '../api/core/node.ts';
import { PODS, type Pod } from '../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { launcherPodNameOf } from '../api/launcher/pod-name.ts';
import { keyOf } from '../api/meta.ts';
import { pathOf } from '../api/resource.ts';
import { createClient } from '../client/client.ts';
import { byController } from '../reconcile/owner.ts';
import { rememberWriteErrors, type WriteErrors } from '../reconcile/write-errors.ts';
import { launcherPod, vm, vmi } from '../testing/builders.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { fixedConfiguration } from '../testing/fixed-configuration.ts';
import { handFedCache } from '../testing/hand-fed-cache.ts';
import { observeVm } from './vm/observe.ts';
import { launcherPodFor } from './vmi/launcher-pod.ts';
import { observeVmi } from './vmi/observe.ts';

const KEY = 'default/db';
const noErrors: WriteErrors = { get: () => undefined, forget: () => {} };

/** What the server has, by path; anything else is not found. */
function clientOf(objects: Readonly<Record<string, object>> = {}) {
  const fetch = async (request: Request) => {
    const found = objects[new URL(request.url).pathname];
    return found
      ? Response.json(found)
      : Response.json({ kind: 'Status', code: 404, reason: 'NotFound', message: 'gone' }, { status: 404 });
  };
  return createClient({ fetch, baseUrl: 'https://server', userAgent: 'test' });
}

function world(options: { vm?: VirtualMachine; vmi?: VirtualMachineInstance; pod?: Pod; onServer?: Readonly<Record<string, object>> }) {
  const vms = handFedCache(VMS);
  const vmis = handFedCache(VMIS);
  const pods = handFedCache(PODS, byController);
  const revisions = handFedCache(CONTROLLER_REVISIONS, byController);
  const nodes = handFedCache(NODES);
  if (options.vm) vms.put(options.vm);
  if (options.vmi) vmis.put(options.vmi);
  if (options.pod) pods.put(options.pod);
  const client = clientOf(options.onServer);
  return {
    client,
    clock: new FakeClock(),
    vms,
    vmis,
    pods,
    attachments: handFedCache(PODS, byController),
    claimSizes: handFedCache(PERSISTENT_VOLUME_CLAIMS),
    revisions,
    nodes,
    dataVolumes: handFedCache(DATA_VOLUMES),
    choices: [],
    createErrors: noErrors,
    deleteErrors: noErrors,
    launcherImage: 'launcher',
    configuration: fixedConfiguration(),
  };
}

describe('observeVm', () => {
  const orphan = vmi('Running', {}, { ownerReferences: [] });
  const onServer = (object: VirtualMachine) => ({ [pathOf(VMS, { namespace: 'default', name: 'db' })]: object });
  const look = async (options: Parameters<typeof world>[0]) => {
    const seen = await observeVm(world({ vm: vm('Always'), ...options }), KEY);
    return [seen?.vmi?.metadata.uid, seen?.stranger?.metadata.uid, seen?.mayAdopt];
  };

  test('a claim without a volume is looked for on the way up, and only then', async () => {
    const plain = vm('Always');
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const withClaim = (strategy: 'Always' | 'Halted') => ({
      ...plain,
      spec: { runStrategy: strategy, template: { spec: { ...plain.spec.template.spec, volumes } } },
    });
    const server = (phase: string) => ({
      '/api/v1/namespaces/default/persistentvolumeclaims/data': { metadata: { name: 'data' }, status: { phase } },
    });
    const unbound = async (options: Parameters<typeof world>[0]) => (await observeVm(world(options), KEY))?.unboundClaim;
    assert.deepEqual(
      [
        await unbound({ vm: withClaim('Always'), onServer: server('Pending') }),
        await unbound({ vm: withClaim('Always'), vmi: vmi('Scheduling'), onServer: server('Pending') }),
        await unbound({ vm: withClaim('Always'), onServer: server('Bound') }),
        await unbound({ vm: withClaim('Always') }),
        await unbound({ vm: withClaim('Always'), vmi: vmi('Running'), onServer: server('Pending') }),
        await unbound({ vm: withClaim('Halted'), onServer: server('Pending') }),
      ],
      ['data', 'data', undefined, undefined, undefined, undefined],
    );
  });

  test('an instance is ours only when we control it', async () => {
    const others = vmi('Running', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'o-1', controller: true }] });
    assert.deepEqual(await look({ vmi: vmi('Running') }), ['vmi-1', undefined, undefined]);
    assert.deepEqual(await look({ vmi: others, onServer: onServer(vm('Always')) }), [undefined, 'vmi-1', false]);
  });

  test('an orphan may be adopted while the server still has this very VM', async () => {
    assert.deepEqual(await look({ vmi: orphan, onServer: onServer(vm('Always')) }), [undefined, 'vmi-1', true]);
    assert.deepEqual(await look({ vmi: orphan, onServer: onServer(vm('Always', {}, { uid: 'vm-2' })) }), [undefined, 'vmi-1', false]);
    assert.deepEqual(await look({ vmi: orphan }), [undefined, 'vmi-1', false]);
  });

  test('a VM that is gone is nothing to decide on', async () => {
    assert.equal(await observeVm(world({}), KEY), undefined);
  });
});

describe('observeVmi', () => {
  const podPath = pathOf(PODS, { namespace: 'default', name: launcherPodNameOf(vmi('Pending')) });
  const podsSeen = async (options: Parameters<typeof world>[0]) =>
    (await observeVmi(world(options), KEY))?.pods.map(({ metadata }) => metadata.uid);

  test('finds its Pods in the cache', async () => {
    const pod = launcherPod({ running: { startedAt: '' } });
    assert.deepEqual(await podsSeen({ vmi: vmi('Running'), pod }), ['pod-1']);
  });

  test('asks the server before it believes that there is no Pod', async () => {
    const made = launcherPodFor(vmi('Pending'), { image: 'launcher' });
    const mine = { ...made, metadata: { ...made.metadata, uid: 'unseen' } };
    const foreign = { ...mine, metadata: { ...mine.metadata, ownerReferences: [] } };
    assert.deepEqual(await podsSeen({ vmi: vmi('Pending'), onServer: { [podPath]: mine } }), ['unseen']);
    assert.deepEqual(await podsSeen({ vmi: vmi('Pending'), onServer: { [podPath]: foreign } }), []);
  });

  test('knows whether the VM that holds the instance is still there', async () => {
    const isVmGone = async (options: Parameters<typeof world>[0]) => (await observeVmi(world(options), KEY))?.isVmGone;
    assert.deepEqual(
      [
        await isVmGone({ vm: vm('Always'), vmi: vmi('Running') }),
        await isVmGone({ vmi: vmi('Running') }),
        await isVmGone({ vm: vm('Always', {}, { uid: 'vm-2' }), vmi: vmi('Running') }),
        await isVmGone({ vmi: vmi('Running', {}, { finalizers: [] }) }),
      ],
      [false, true, true, false],
    );
  });
});

describe('rememberWriteErrors', () => {
  test('a delete that is refused is remembered, one of what is gone is not', async () => {
    const status = (code: number, reason: string) => Response.json({ kind: 'Status', code, reason, message: reason }, { status: code });
    const answers = [status(404, 'NotFound'), status(403, 'Forbidden'), Response.json({})];
    const { client, deleteErrors } = rememberWriteErrors({
      client: createClient({ fetch: async () => answers.shift() ?? Response.json({}), baseUrl: 'https://server', userAgent: 'test' }),
      kind: VMIS.kind,
      keyAt: () => 'the set',
    });
    const told: (string | undefined)[] = [];
    for (let tries = 0; tries < 3; tries++) {
      await client.delete(VMIS, vmi('Running').metadata).catch(() => {});
      told.push(deleteErrors.get('the set'));
    }
    assert.deepEqual(told, [undefined, 'Forbidden', undefined]);
  });

  test('keeps the last refusal until a create succeeds', async () => {
    const answers = [
      Response.json({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'quota' }, { status: 403 }),
      Response.json({}),
    ];
    const { client, createErrors } = rememberWriteErrors({
      client: createClient({ fetch: async () => answers.shift() ?? Response.json({}), baseUrl: 'https://server', userAgent: 'test' }),
      kind: VMIS.kind,
    });
    const key = keyOf(vmi('Pending').metadata);
    await assert.rejects(client.create(VMIS, vmi('Pending')), { reason: 'Forbidden' });
    assert.equal(createErrors.get(key), 'quota');
    await client.create(VMIS, vmi('Pending'));
    assert.equal(createErrors.get(key), undefined);
  });
});
