import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterConfigurationOf, type KubeVirtConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { systemClock } from '../../base/clock.ts';
import { isObject, type JsonObject, mergePatch } from '../../base/json.ts';
import { silentLogger } from '../../base/log.ts';
import { createClient } from '../../client/client.ts';
import { fixedConfiguration } from '../../testing/fixed-configuration.ts';
import { answerReview } from './answer-review.ts';

const TEMPLATE = {
  spec: {
    domain: { resources: { requests: { memory: '64M' } }, devices: { disks: [{ name: 'root' }] } },
    volumes: [{ name: 'root', containerDisk: { image: 'x:1' } }],
  },
};
const VM: JsonObject = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'db' },
  spec: { runStrategy: 'Always', template: TEMPLATE },
};
const VMI: JsonObject = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { name: 'db' }, spec: TEMPLATE.spec };
const USER = 'ada';
const CONTROLLER = 'system:serviceaccount:kubevirt:kubevirt-controller';
const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';
const OWNED = {
  metadata: { ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'db', uid: '1', controller: true }] },
};

/** A cluster that has these KubeVirts. */
let kubevirts: JsonObject[] = [];
let developerConfiguration: KubeVirtConfiguration['developerConfiguration'];
const worldWith = () => ({
  client: createClient({
    fetch: async () => Response.json({ items: kubevirts, metadata: { resourceVersion: '1' } }),
    baseUrl: 'https://cluster',
    userAgent: 'test',
  }),
  clock: { ...systemClock, now: () => Date.parse('2026-01-01T00:00:00Z') },
  configuration: fixedConfiguration(clusterConfigurationOf(developerConfiguration && { developerConfiguration })),
  presets: { in: async () => [] },
  log: silentLogger,
});

type Asked = { object: JsonObject; old?: JsonObject; user?: string };
type Answer = {
  allowed: boolean;
  warnings?: string[];
  patch?: string;
  status?: { code: number; message: string; details: { causes: { field: string }[] } };
};

async function ask(path: string, { object, old, user = USER }: Asked): Promise<Answer> {
  const request = { uid: 'u1', operation: old ? 'UPDATE' : 'CREATE', userInfo: { username: user }, object, oldObject: old ?? null };
  const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
  const response = await answerReview(new Request(`https://virt-api${path}`, { method: 'POST', body }), path, worldWith());
  const answer = ((await response.json()) as { response: Answer & { uid: string } }).response;
  assert.equal(answer.uid, 'u1');
  return answer;
}
const changed = (object: JsonObject, ...patches: JsonObject[]): JsonObject =>
  patches.reduce((value, patch) => mergePatch(value, patch) as JsonObject, object);
const fields = ({ status }: Answer): string[] => (status?.details.causes ?? []).map(({ field }) => field);
const patchOf = ({ patch }: Answer): { op: string; path: string; value?: unknown }[] =>
  patch ? JSON.parse(Buffer.from(patch, 'base64').toString()) : [];

describe('VirtualMachine', () => {
  const review = (asked: Asked) => ask('/validate/virtualmachines', asked);

  test('a good one is taken without a word', async () => {
    assert.deepEqual(await review({ object: VM }), { uid: 'u1', allowed: true, warnings: [] });
  });
  test('one that is made is counted; one that is refused, tried or changed is not', async () => {
    const counted: string[][] = [];
    const onCreate = (...told: string[]) => counted.push(told);
    const send = async (object: JsonObject, asked: JsonObject) => {
      const request = { uid: 'u1', operation: 'CREATE', userInfo: { username: USER }, object, ...asked };
      const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
      const path = '/validate/virtualmachines';
      await answerReview(new Request(`https://virt-api${path}`, { method: 'POST', body }), path, { ...worldWith(), onCreate });
    };
    const mine = changed(VM, { metadata: { namespace: 'team' } });
    await send(mine, {});
    await send(mine, { dryRun: true });
    await send(mine, { operation: 'UPDATE', oldObject: mine });
    await send(changed(mine, { spec: { running: true } }), {});
    assert.deepEqual(counted, [['VirtualMachine', 'team']]);
  });
  test('running and runStrategy exclude each other', async () => {
    assert.deepEqual(fields(await review({ object: changed(VM, { spec: { running: true } }) })), ['spec.running']);
  });
  test('one of running and runStrategy is required', async () => {
    assert.deepEqual(fields(await review({ object: changed(VM, { spec: { runStrategy: null } }) })), ['spec.runStrategy']);
  });
  test('running alone is taken with a warning', async () => {
    const answer = await review({ object: changed(VM, { spec: { runStrategy: null, running: false } }) });
    assert.deepEqual(answer.warnings, ['spec.running is deprecated, please use spec.runStrategy instead']);
  });
  test('a template is required', async () => {
    assert.deepEqual(fields(await review({ object: changed(VM, { spec: { template: null } }) })), ['spec.template']);
  });
  test('what cannot be had in this way is taken with a warning', async () => {
    const devices = { networkInterfaceMultiqueue: true, interfaces: [{ name: 'default', masquerade: {}, tag: 'lan' }] };
    const spec = { domain: { memory: { guest: '64Mi' }, cpu: { cores: 2 }, devices }, networks: [{ name: 'default', pod: {} }] };
    const object = { ...VM, spec: { runStrategy: 'Halted', template: { spec } } };
    assert.deepEqual((await review({ object })).warnings, [
      'spec.template.spec.domain.devices.networkInterfaceMultiqueue: cards on the Pod network have one queue, whatever the number of processors',
      'spec.template.spec.domain.devices: tags reach the guest by a cloudInitConfigDrive volume, and there is none',
    ]);
  });

  test('too little memory to boot is taken with a warning', async () => {
    const object = changed(VM, { spec: { template: { spec: { domain: { resources: { requests: { memory: '8Mi' } } } } } } });
    assert.match((await review({ object })).warnings?.[0] ?? '', /^spec\.template\.spec\.domain\.resources\.requests\.memory: 8Mi is less/);
  });
  test('every cause is told at once, in a message that names the object', async () => {
    const object = changed(VM, {
      spec: { runStrategy: null, template: { spec: { hostname: '-', volumes: [{ name: 'roto', containerDisk: { image: 'x' } }] } } },
    });
    const { status } = await review({ object });
    assert.equal(status?.code, 422);
    assert.match(
      status?.message ?? '',
      /^VirtualMachine\.kubevirt\.io "db" is invalid: \[spec\.runStrategy: .*spec\.template\.spec\.hostname: .*did you mean "roto"\?\]$/,
    );
  });
  test('a published field that is not honoured is refused by name, and nothing else is said about it', async () => {
    const volumes = [{ name: 'root', downwardMetrics: {} }];
    const object = changed(VM, { spec: { template: { spec: { volumes } } } });
    assert.deepEqual(fields(await review({ object })), ['spec.template.spec.volumes[0].downwardMetrics']);
  });
  test('a file of the node is a disk for the namespaces that its folder was named for', async () => {
    const volumes = [{ name: 'root', hostDisk: { path: '/srv/a/one.img', type: 'Disk' } }];
    const said = async (namespace: string, featureGates: string[]) => {
      const object = changed(VM, { metadata: { namespace }, spec: { template: { spec: { volumes } } } });
      const hostDiskFolders = [{ path: '/srv/a', namespaces: ['trusted'] }];
      developerConfiguration = { featureGates, hostDiskFolders };
      return fields(await review({ object }));
    };
    const [at, path] = ['spec.template.spec.volumes[0].hostDisk', 'spec.template.spec.volumes[0].hostDisk.path'];
    try {
      assert.deepEqual([await said('trusted', []), await said('trusted', ['HostDisk'])], [[at], []]);
      assert.deepEqual(await said('others', ['HostDisk']), [path]);
    } finally {
      developerConfiguration = undefined;
    }
  });
  test('labels of the template must be labels', async () => {
    const object = changed(VM, { spec: { template: { metadata: { labels: { a: 'not a value' } } } } });
    assert.deepEqual(fields(await review({ object })), ['spec.template.metadata.labels[a]']);
  });
  test('reserved labels are refused in the template, too', async () => {
    const object = changed(VM, { spec: { template: { metadata: { labels: { 'kubevirt.io/nodeName': 'n1' } } } } });
    assert.deepEqual(fields(await review({ object })), ['spec.template.metadata.labels[kubevirt.io/nodeName]']);
  });
  test('annotations of the template are texts', async () => {
    const object = changed(VM, { spec: { template: { metadata: { annotations: { a: 1 } } } } });
    assert.deepEqual(fields(await review({ object })), ['spec.template.metadata.annotations[a]']);
  });
  test('what was wrong before does not lock the object', async () => {
    const old = changed(VM, { spec: { template: { spec: { hostname: '-' } } } });
    const object = changed(old, { spec: { template: { spec: { subdomain: 'fine' } } } });
    assert.equal((await review({ object, old })).allowed, true);
  });
  test('an object that was wrong before may not get worse', async () => {
    const old = changed(VM, { spec: { template: { spec: { hostname: '-' } } } });
    const object = changed(old, { spec: { template: { spec: { subdomain: '-' } } } });
    assert.deepEqual(fields(await review({ object, old })), ['spec.template.spec.subdomain']);
  });
  test('an old fault may move to another place in its list', async () => {
    const cause = { name: 'a', containerDisk: { image: 'x' }, emptyDisk: { capacity: '1Gi' } };
    const [first] = TEMPLATE.spec.volumes;
    const old = changed(VM, { spec: { template: { spec: { volumes: [cause, first] } } } });
    const object = changed(VM, { spec: { template: { spec: { volumes: [first, cause] } } } });
    assert.equal((await review({ object, old })).allowed, true);
  });
  test('finalizers can be taken off a deleted object, whatever is wrong with it', async () => {
    const old = changed(VM, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a'] }, spec: { runStrategy: null } });
    assert.equal((await review({ object: changed(old, { metadata: { finalizers: null } }), old })).allowed, true);
  });
});

describe('VirtualMachineInstance', () => {
  const review = (asked: Asked) => ask('/validate/virtualmachineinstances', asked);

  test('its spec is fixed for users', async () => {
    const object = changed(VMI, { spec: { hostname: 'other' } });
    assert.deepEqual(fields(await review({ object, old: VMI })), ['spec']);
  });
  test('its spec may be changed by a component', async () => {
    assert.equal((await review({ object: changed(VMI, { spec: { hostname: 'other' } }), old: VMI, user: CONTROLLER })).allowed, true);
  });
  test('a user cannot give it a reserved label', async () => {
    for (const name of ['created-by', 'migrationJobUID', 'nodeName', 'migrationTargetNodeName', 'schedulable', 'install-strategy']) {
      const object = changed(VMI, { metadata: { labels: { [`kubevirt.io/${name}`]: 'x' } } });
      assert.deepEqual(fields(await review({ object })), [`metadata.labels[kubevirt.io/${name}]`]);
      assert.equal((await review({ object, user: CONTROLLER })).allowed, true);
    }
  });
  test('a user cannot take a reserved label away', async () => {
    const old = changed(VMI, { metadata: { labels: { 'kubevirt.io/nodeName': 'n1' } } });
    assert.deepEqual(fields(await review({ object: VMI, old })), ['metadata.labels[kubevirt.io/nodeName]']);
  });
  test('a user may label an instance that has a reserved label', async () => {
    const old = changed(VMI, { metadata: { labels: { 'kubevirt.io/nodeName': 'n1' } } });
    assert.equal((await review({ object: changed(old, { metadata: { labels: { mine: 'x' } } }), old })).allowed, true);
  });
  test('a user can neither set nor take away an owner of ours', async () => {
    const owned = changed(VMI, OWNED);
    assert.deepEqual(fields(await review({ object: owned })), ['metadata.ownerReferences']);
    assert.deepEqual(fields(await review({ object: VMI, old: owned })), ['metadata.ownerReferences']);
  });
  test('the garbage collector can take an owner away', async () => {
    assert.equal((await review({ object: VMI, old: changed(VMI, OWNED), user: COLLECTOR })).allowed, true);
  });
  test("an owner of another group is nobody else's business", async () => {
    const object = changed(VMI, { metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: '1' }] } });
    assert.equal((await review({ object })).allowed, true);
  });
});

describe('defaults of a VirtualMachineInstance', () => {
  const review = (asked: Asked) => ask('/mutate/virtualmachineinstances', asked);
  const at = (path: string, answer: Answer): unknown => patchOf(answer).find((each) => each.path === path)?.value;

  test('a new one is completed', async () => {
    const answer = await review({ object: VMI });
    const spec = at('/spec', answer) as { domain: JsonObject };
    const { firmware } = spec.domain;
    assert.match(String(isObject(firmware) && firmware['uuid']), /^[0-9a-f-]{36}$/);
    assert.deepEqual(changed(spec, { domain: { firmware: null } }), {
      architecture: 'amd64',
      domain: {
        features: { acpi: { enabled: true } },
        machine: { type: 'q35' },
        cpu: { cores: 1, sockets: 1, threads: 1, model: 'host-model' },
        memory: { guest: '64M' },
        resources: { requests: { memory: '64M' } },
        devices: { disks: [{ name: 'root', disk: { bus: 'sata' } }], interfaces: [{ name: 'default', masquerade: {} }] },
      },
      networks: [{ name: 'default', pod: {} }],
      volumes: [{ name: 'root', containerDisk: { image: 'x:1', imagePullPolicy: 'IfNotPresent' } }],
    });
    assert.deepEqual(at('/metadata/finalizers', answer), ['kubevirt.io/foregroundDeleteVirtualMachine']);
  });
  const BORN = {
    phase: 'Pending',
    phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: '2026-01-01T00:00:00Z' }],
    runtimeUser: 107,
    currentCPUTopology: { cores: 1, sockets: 1, threads: 1 },
    memory: { guestAtBoot: '64M', guestCurrent: '64M', guestRequested: '64M' },
  };
  test('an instance is born Pending, with its memory and processors', async () => {
    assert.deepEqual(at('/status', await review({ object: VMI })), BORN);
  });
  test('a user cannot bring a status along', async () => {
    const object = changed(VMI, { status: { phase: 'Running', reason: 'me', nodeName: 'n1' } });
    assert.deepEqual(at('/status', await review({ object })), BORN);
  });
  test('a component can, and what it leaves open is filled in', async () => {
    const object = changed(VMI, { status: { phase: 'Scheduled', nodeName: 'n1' } });
    assert.deepEqual(at('/status', await review({ object, user: CONTROLLER })), { ...BORN, phase: 'Scheduled', nodeName: 'n1' });
  });
  test('a status that a user changes is put back', async () => {
    const old = changed(VMI, { status: { phase: 'Running' } });
    for (const status of [{ phase: 'Failed' }, null]) {
      assert.deepEqual(patchOf(await review({ object: changed(old, { status }), old })), [
        { op: 'add', path: '/status', value: { phase: 'Running' } },
      ]);
    }
  });
  test('a status that a component changes is kept', async () => {
    const old = changed(VMI, { status: { phase: 'Running' } });
    assert.deepEqual(patchOf(await review({ object: changed(old, { status: { phase: 'Failed' } }), old, user: CONTROLLER })), []);
  });
  test('the manifest it was made from is no change of its spec', async () => {
    const stored = changed(VMI, { spec: null });
    stored['spec'] = at('/spec', await review({ object: VMI }));
    const again = changed(stored, { spec: null });
    again['spec'] = VMI['spec'];
    assert.deepEqual(at('/spec', await review({ object: again, old: stored })), stored['spec']);
  });
  test('what is not shaped like an instance is left to the schema', async () => {
    for (const spec of [
      {},
      { domain: 'x' },
      { domain: { devices: { disks: 'x' } } },
      { domain: { devices: {}, cpu: 5, memory: [], firmware: 1 }, volumes: [5] },
    ]) {
      assert.equal((await review({ object: { ...VMI, spec } })).allowed, true);
    }
  });
});

describe('other kinds', () => {
  const set = {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { a: 'b' } }, template: { ...TEMPLATE, metadata: { labels: { a: 'b' } } } },
  };

  test('a replica set whose selector fits its template is taken', async () => {
    assert.equal((await ask('/validate/virtualmachineinstancereplicasets', { object: set })).allowed, true);
  });
  test('a replica set must select its own instances', async () => {
    const object = changed(set, { spec: { selector: { matchLabels: { a: 'c' } } } });
    assert.deepEqual(fields(await ask('/validate/virtualmachineinstancereplicasets', { object })), ['spec.template.metadata.labels']);
  });
  test('the template of a replica set is checked', async () => {
    const object = changed(set, { spec: { template: { spec: { hostname: '-' } } } });
    assert.deepEqual(fields(await ask('/validate/virtualmachineinstancereplicasets', { object })), ['spec.template.spec.hostname']);
  });
  const POOL: JsonObject = {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      virtualMachineTemplate: { metadata: { labels: { a: 'b' } }, spec: { runStrategy: 'Always', template: TEMPLATE } },
    },
  };
  const askPool = (object: JsonObject, old?: JsonObject) => ask('/validate/virtualmachinepools', { object, ...(old && { old }) });
  test('a pool whose selector fits its template is taken', async () => {
    assert.equal((await askPool(POOL)).allowed, true);
  });
  test('a pool must select its own machines', async () => {
    const object = changed(POOL, { spec: { selector: { matchLabels: { a: 'c' } } } });
    assert.deepEqual(fields(await askPool(object)), ['spec.virtualMachineTemplate.metadata.labels']);
    assert.deepEqual(fields(await askPool(changed(POOL, { spec: { selector: { matchLabels: null } } }))), ['spec.selector']);
  });
  test('the selector of a pool never changes', async () => {
    const object = changed(POOL, { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } } });
    assert.deepEqual(fields(await askPool(object, POOL)), ['spec.selector']);
  });
  test('what is wrong about a pool is named by its field', async () => {
    const object = changed(POOL, {
      spec: {
        maxUnavailable: '0%',
        scaleInStrategy: { proactive: {}, unmanaged: {} },
        updateStrategy: { proactive: {}, opportunistic: {} },
        virtualMachineTemplate: { spec: { runStrategy: null, template: { spec: { hostname: '-' } } } },
      },
    });
    assert.deepEqual(fields(await askPool(object)), [
      'spec.virtualMachineTemplate.spec.runStrategy',
      'spec.virtualMachineTemplate.spec.template.spec.hostname',
      'spec.maxUnavailable',
      'spec.scaleInStrategy',
      'spec.updateStrategy',
    ]);
  });
  test('a replica set must not select everything', async () => {
    const object = changed(set, { spec: { selector: { matchLabels: null } } });
    assert.deepEqual(fields(await ask('/validate/virtualmachineinstancereplicasets', { object })), ['spec.selector']);
  });
  for (const plural of ['offlinevirtualmachines', 'virtualmachineinstanceconfigs']) {
    test(`the template of ${plural} is checked`, async () => {
      const object = { metadata: { name: 'x' }, spec: { template: changed(TEMPLATE, { spec: { hostname: '-' } }) } };
      assert.deepEqual(fields(await ask(`/validate/${plural}`, { object })), ['spec.template.spec.hostname']);
    });
  }
});

describe('the protocol', () => {
  const post = (body: string) =>
    answerReview(new Request('https://virt-api/x', { method: 'POST', body }), '/validate/virtualmachines', worldWith());

  test('what is no AdmissionReview is a bad request', async () => {
    for (const body of ['', '{', '{}', '[]', 'null', '{"kind":"AdmissionReview"}', '{"kind":"AdmissionReview","request":{}}'])
      await assert.rejects(post(body), { name: 'ApiError', reason: 'BadRequest' });
  });
  test('only POST is possible', async () => {
    await assert.rejects(answerReview(new Request('https://virt-api/x'), '/validate/virtualmachines', worldWith()), {
      reason: 'MethodNotAllowed',
    });
  });
});

describe('KubeVirt', () => {
  const kubevirt = (name: string): JsonObject => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name, namespace: 'kubevirt' },
    spec: {},
  });
  const review = (asked: Asked) => ask('/validate/kubevirts', asked);

  test('the first of a cluster is taken', async () => {
    kubevirts = [];
    assert.equal((await review({ object: kubevirt('kubevirt') })).allowed, true);
  });

  test('a second one is refused and the first is named', async () => {
    kubevirts = [kubevirt('kubevirt')];
    const answer = await review({ object: kubevirt('another') });
    assert.match(answer.status?.message ?? '', /metadata\.name: Forbidden: the cluster has its KubeVirt already: kubevirt\/kubevirt/);
  });

  test('the one that is there can be changed', async () => {
    kubevirts = [kubevirt('kubevirt')];
    assert.equal((await review({ object: kubevirt('kubevirt'), old: kubevirt('kubevirt') })).allowed, true);
  });
});
