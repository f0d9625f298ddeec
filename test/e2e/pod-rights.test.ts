/** Nobody gains by a machine what a Pod of theirs would be denied. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

type Pod = {
  readonly spec: {
    readonly hostNetwork?: boolean;
    readonly hostPID?: boolean;
    readonly hostIPC?: boolean;
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly priorityClassName?: string;
    readonly nodeSelector?: Record<string, string>;
    readonly schedulerName?: string;
    readonly securityContext?: Record<string, unknown>;
    readonly volumes: readonly Record<string, unknown>[];
    readonly containers: readonly {
      readonly name: string;
      readonly ports?: readonly { readonly hostPort?: number }[];
      readonly securityContext?: Record<string, unknown> & {
        readonly capabilities?: { readonly drop?: string[]; readonly add?: string[] };
      };
    }[];
  };
};

/** What the Pod security standard "restricted" lets a Pod mount. */
const RESTRICTED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
  'image',
];

/** What an administrator shares a folder of the host by. */
const sharedFolder = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'folder', annotations: { 'pv.kubernetes.io/provisioned-by': 'kubevirt-ts.io/shared-folder' } },
  spec: { accessModes: ['ReadWriteMany'], capacity: { storage: '1Gi' }, storageClassName: '', hostPath: { path: '/etc' } },
};
const machine = (name: string, template: object, { volumes = [], metadata = {} }: { volumes?: object[]; metadata?: object } = {}) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name },
  spec: {
    runStrategy: 'Always',
    template: {
      metadata,
      spec: {
        domain: { memory: { guest: '64Mi' }, devices: {} },
        terminationGracePeriodSeconds: 0,
        volumes: [{ name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } }, ...volumes],
        ...template,
      },
    },
  },
});

test('no field of a machine gives its author what a Pod of theirs would be denied', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  for (const namespace of ['t1', 't2']) await cluster.createNamespace(namespace);
  await cluster.must('kubectl', ['create', 'rolebinding', 'ed', '--clusterrole=edit', '--user=ed', '-n', 't1']);
  await cluster.must('kubectl', ['create', 'secret', 'generic', 'theirs', '--from-literal=userdata=#!/bin/sh', '-n', 't2']);
  await cluster.must('kubectl', ['create', 'serviceaccount', 'mighty', '-n', 't1']);
  const asEd = (args: string[], input?: object) =>
    cluster.kubectl(['--as=ed', '-n', 't1', ...args], input && { input: JSON.stringify(input) });
  const podOf = async (name: string): Promise<Pod> => {
    await cluster.must('kubectl', ['-n', 't1', 'wait', `vm/${name}`, '--for=jsonpath={.status.created}=true', '--timeout=120s'], {
      timeoutMs: 130_000,
    });
    const uid = await cluster.must('kubectl', ['-n', 't1', 'get', 'vmi', name, '-o', 'jsonpath={.metadata.uid}']);
    const found = () => cluster.must('kubectl', ['-n', 't1', 'get', 'pods', '-l', `kubevirt.io/created-by=${uid}`, '-o', 'json']);
    for (let tries = 0; tries < 120; tries++) {
      const [pod] = JSON.parse(await found()).items;
      if (pod) return pod;
    }
    throw new Error(`${name} has no Pod`);
  };

  await t.test('the launcher Pod is fit for the restricted standard, whatever its namespace enforces', async () => {
    const made = await asEd(['create', '-f', '-'], machine('plain', {}));
    assert.equal(made.code, 0, made.stderr);
    const { spec } = await podOf('plain');
    assert.deepEqual([spec.hostNetwork ?? false, spec.hostPID ?? false, spec.hostIPC ?? false], [false, false, false]);
    assert.equal(spec.automountServiceAccountToken, false);
    assert.deepEqual(spec.securityContext?.['seccompProfile'], { type: 'RuntimeDefault' });
    for (const volume of spec.volumes)
      for (const source of Object.keys(volume).filter((key) => key !== 'name')) assert.ok(RESTRICTED_VOLUMES.includes(source), source);
    for (const { name, securityContext = {}, ports = [] } of spec.containers) {
      const runsAsNobody: unknown = securityContext['runAsNonRoot'] ?? spec.securityContext?.['runAsNonRoot'];
      assert.deepEqual(
        [runsAsNobody, securityContext['allowPrivilegeEscalation'], securityContext['privileged'] ?? false],
        [true, false, false],
        name,
      );
      assert.deepEqual(securityContext.capabilities?.drop, ['ALL'], name);
      for (const added of securityContext.capabilities?.add ?? []) assert.equal(added, 'NET_BIND_SERVICE', name);
      for (const { hostPort } of ports) assert.equal(hostPort, undefined, name);
    }
  });

  await t.test('a Pod that claims to be a launcher is refused, as by the same policies on a cluster', async () => {
    const uid = await cluster.must('kubectl', ['-n', 't1', 'get', 'vmi', 'plain', '-o', 'jsonpath={.metadata.uid}']);
    const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'plain', uid, controller: true };
    const forged = (metadata: object, env: readonly object[] = []) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'forged', ...metadata },
      spec: { nodeSelector: { none: '' }, containers: [{ name: 'main', image: 'local/none', env }] },
    });
    const claims = [
      forged({ labels: { 'kubevirt.io': 'virt-launcher' } }),
      forged({ labels: { 'kubevirt.io/created-by': uid } }),
      forged({ labels: { 'kubevirt.io': 'hotplug-disk' } }),
      forged({ ownerReferences: [owner] }),
      forged({ ownerReferences: [{ ...owner, apiVersion: 'export.kubevirt.io/v1', kind: 'VirtualMachineExport' }] }),
      forged({}, [{ name: 'KUBEVIRT_VMI', value: '{}' }]),
    ];
    for (const claim of claims) {
      const { code, stderr } = await asEd(['create', '-f', '-'], claim);
      assert.equal(code, 1, JSON.stringify(claim.metadata));
      // An owner is refused before, together with the rights that it would give.
      assert.match(
        stderr,
        /'kubevirt-launcher-pods' .* launcher and importer Pods are made by virt-controller alone|only virt-controller makes Pods/,
      );
    }
    assert.equal((await asEd(['create', '-f', '-'], forged({}))).code, 0, 'without a claim it is any Pod');
  });

  await t.test('what would reach the host or a device is refused by name', async () => {
    const refused: [what: string, machine: object][] = [
      [
        'spec.template.spec.volumes[1].hostDisk',
        machine('a', {}, { volumes: [{ name: 'x', hostDisk: { path: '/etc/shadow', type: 'Disk' } }] }),
      ],
      ['spec.template.spec.volumes[1].downwardMetrics', machine('d', {}, { volumes: [{ name: 'x', downwardMetrics: {} }] })],
      ['spec.template.spec.volumes[1].containerPath', machine('l', {}, { volumes: [{ name: 'x', containerPath: { path: '/etc' } }] })],
      ['spec.template.spec.volumes[1].hostPath', machine('m', {}, { volumes: [{ name: 'x', hostPath: { path: '/etc' } }] })],
      ['spec.template.spec.hostNetwork', machine('o', { hostNetwork: true })],
      ['spec.template.spec.nodeName', machine('p', { nodeName: 'n1' })],
      [
        'spec.template.spec.readinessProbe.tcpSocket.host',
        machine('q', { readinessProbe: { tcpSocket: { port: 22, host: '10.96.0.1' } } }),
      ],
      ['kubevirt.io/nodeName', machine('r', {}, { metadata: { labels: { 'kubevirt.io/nodeName': 'n1' } } })],
      ['hostDevices', machine('e', { domain: { memory: { guest: '64Mi' }, devices: { hostDevices: [{ name: 'x', deviceName: 'y' }] } } })],
      ['gpus', machine('f', { domain: { memory: { guest: '64Mi' }, devices: { gpus: [{ name: 'x', deviceName: 'y' }] } } })],
      ['filesystems', machine('g', { domain: { memory: { guest: '64Mi' }, devices: { filesystems: [{ name: 'x', virtiofs: {} }] } } })],
      ['cannot create resource "persistentvolumes"', sharedFolder],
    ];
    for (const [what, object] of refused) {
      const { code, stderr } = await asEd(['create', '-f', '-'], object);
      assert.equal(code, 1, what);
      assert.ok(stderr.includes(what), `${what} is not in: ${stderr}`);
    }
    assert.equal((await asEd(['get', 'vms', '-o', 'name'])).stdout, 'virtualmachine.kubevirt.io/plain\n');
  });

  await t.test('a file of the node is a disk where an administrator has named its folder, and nowhere else', async () => {
    await cluster.must('kubectl', ['create', '-f', '-'], {
      input: JSON.stringify({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'folder' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } },
      }),
    });
    const here = await cluster.folderOf('folder'); // a folder that all nodes see, whoever else it belongs to
    mkdirSync(here, { recursive: true });
    chmodSync(here, 0o777);
    const path = await cluster.field('pv', await cluster.field('pvc', 'folder', '.spec.volumeName'), '.spec.hostPath.path');
    const kubeVirt = ['kv', 'kubevirt', '-n', 'kubevirt'];
    const before = await cluster.must('kubectl', ['get', ...kubeVirt, '-o', 'jsonpath={.spec.configuration.developerConfiguration}']);
    const gates = JSON.parse(before || '{}').featureGates ?? [];
    const set = (developerConfiguration: object) =>
      cluster.must('kubectl', [
        'patch',
        ...kubeVirt,
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { configuration: { developerConfiguration } } }),
      ]);
    const withFile = (name: string, file: string) =>
      machine(
        name,
        { domain: { memory: { guest: '64Mi' }, devices: { disks: [{ name: 'file', disk: { bus: 'virtio' } }] } } },
        {
          volumes: [{ name: 'file', hostDisk: { path: file, type: 'DiskOrCreate', capacity: '1Mi' } }],
        },
      );
    const tried = async (name: string, file: string) => (await asEd(['create', '-f', '-'], withFile(name, file))).stderr;
    await set({ featureGates: [...gates, 'HostDisk'], hostDiskFolders: [{ path, namespaces: ['t1'] }] });
    try {
      // Within a second the configuration has arrived.
      for (let said = 'not enabled', tries = 0; /not enabled|has named/.test(said) && tries < 60; tries++)
        said = await tried('keeps', `${path}/disk.raw`);
      await cluster.must('kubectl', ['-n', 't1', 'wait', 'vm/keeps', '--for=condition=Ready', '--timeout=180s'], { timeoutMs: 190_000 });
      assert.equal(statSync(join(here, 'disk.raw')).size, 2 ** 20);
      assert.match(await tried('below', `${path}/sub/disk.raw`), /has named for this namespace/);
      assert.match(await tried('shadow', '/etc/shadow'), /has named for this namespace/);
      const elsewhere = await cluster.kubectl(['-n', 't2', 'create', '-f', '-'], {
        input: JSON.stringify(withFile('other', `${path}/disk.raw`)),
      });
      assert.match(elsewhere.stderr, /has named for this namespace: there is none/);
      await cluster.must('kubectl', ['-n', 't1', 'delete', 'vm', 'keeps', '--timeout=180s'], { timeoutMs: 190_000 });
      assert.equal(statSync(join(here, 'disk.raw')).size, 2 ** 20);
    } finally {
      await set({ featureGates: gates, hostDiskFolders: null });
    }
  });

  await t.test('annotations that change the launcher elsewhere change nothing here', async () => {
    const annotations = {
      'hooks.kubevirt.io/hookSidecars': '[{"image":"evil"}]',
      'kubevirt.io/vm-user-privileged': 'true',
      'container.apparmor.security.beta.kubernetes.io/compute': 'unconfined',
    };
    const { code, stderr } = await asEd(['create', '-f', '-'], machine('hooked', {}, { metadata: { annotations } }));
    assert.equal(code, 0, stderr);
    const plain = await podOf('plain');
    const hooked = await podOf('hooked');
    assert.deepEqual(
      hooked.spec.containers.map(({ name }) => name),
      plain.spec.containers.map(({ name }) => name),
    );
    assert.deepEqual(hooked.spec.securityContext, plain.spec.securityContext);
    assert.deepEqual(hooked.spec.containers[0]?.securityContext, plain.spec.containers[0]?.securityContext);
  });

  await t.test('a Secret of another namespace cannot be named: cloud-init waits for one of its own', async () => {
    const volumes = [{ name: 'x', cloudInitNoCloud: { secretRef: { name: 'theirs' } } }];
    const made = await asEd(['create', '-f', '-'], machine('nosy', {}, { volumes }));
    assert.equal(made.code, 0, made.stderr);
    const { spec } = await podOf('nosy');
    assert.ok(spec.volumes.some((volume) => JSON.stringify(volume).includes('"secretName":"theirs"')));
    const status = await cluster.must('kubectl', ['-n', 't1', 'get', 'vmi', 'nosy', '-o', 'jsonpath={.status.phase}']);
    assert.notEqual(status, 'Running');
    const sources = [{ configMap: { name: 'theirs' } }, { secret: { secretName: 'theirs' } }, { sysprep: { secret: { name: 'theirs' } } }];
    for (const [index, source] of sources.entries()) {
      const { code, stderr } = await asEd(['create', '-f', '-'], machine(`nosy${index}`, {}, { volumes: [{ name: 'x', ...source }] }));
      assert.equal(code, 0, stderr);
      assert.ok((await podOf(`nosy${index}`)).spec.volumes.some((volume) => JSON.stringify(volume).includes('theirs')));
      const path = JSON.parse(JSON.stringify(source).replace('theirs', '../t2/theirs'));
      assert.equal((await asEd(['create', '-f', '-'], machine('nosiest', {}, { volumes: [{ name: 'x', ...path }] }))).code, 1);
    }
    const phases = await cluster.must('kubectl', [
      '-n',
      't1',
      'get',
      'vmi',
      'nosy0',
      'nosy1',
      'nosy2',
      '-o',
      'jsonpath={.items[*].status.phase}',
    ]);
    assert.doesNotMatch(phases, /Running/);
    const elsewhere = await asEd(
      ['create', '-f', '-'],
      machine('nosier', {}, { volumes: [{ name: 'x', cloudInitNoCloud: { secretRef: { name: 'theirs', namespace: 't2' } } }] }),
    );
    assert.equal(elsewhere.code, 1);
  });

  await t.test('nor can a claim: it is looked for beside the machine, by a name that is no path', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'their-disk', namespace: 't2' }, spec };
    await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(claim) });
    const withClaim = (name: string, claimName: string) =>
      asEd(['create', '-f', '-'], machine(name, {}, { volumes: [{ name: 'x', persistentVolumeClaim: { claimName } }] }));
    assert.equal((await withClaim('greedy', 'their-disk')).code, 0);
    await cluster.must('kubectl', ['-n', 't1', 'wait', 'vm/greedy', '--for=jsonpath={.status.created}=true', '--timeout=60s']);
    const reason = '--for=jsonpath={.status.conditions[?(@.type=="Synchronized")].reason}=FailedPvcNotFound';
    await cluster.must('kubectl', ['-n', 't1', 'wait', 'vmi/greedy', reason, '--timeout=60s']);
    const uid = await cluster.must('kubectl', ['-n', 't1', 'get', 'vmi', 'greedy', '-o', 'jsonpath={.metadata.uid}']);
    assert.equal(await cluster.must('kubectl', ['-n', 't1', 'get', 'pods', '-l', `kubevirt.io/created-by=${uid}`, '-o', 'name']), '');
    for (const path of ['../t2/their-disk', 't2/their-disk']) {
      const { code, stderr } = await withClaim('pathfinder', path);
      assert.deepEqual([code, stderr.includes('claimName')], [1, true], stderr);
      const volumes = [{ name: 'x', dataVolume: { name: path } }];
      assert.equal((await asEd(['create', '-f', '-'], machine('pathfinder', {}, { volumes }))).code, 1);
    }
  });

  await t.test('an instance that is made by hand has neither a node nor a phase of its maker’s choice', async () => {
    const { template } = machine('x', {}).spec;
    const vmi = (metadata: object, more: object = {}) => ({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata,
      spec: template.spec,
      ...more,
    });
    const labelled = await asEd(['create', '-f', '-'], vmi({ name: 'handed', labels: { 'kubevirt.io/nodeName': 'n1' } }));
    assert.deepEqual([labelled.code, labelled.stderr.includes('kubevirt.io/nodeName')], [1, true], labelled.stderr);
    const made = await asEd(
      ['create', '-f', '-', '-o', 'json'],
      vmi({ name: 'claimed' }, { status: { phase: 'Running', nodeName: 'n1' } }),
    );
    assert.equal(made.code, 0, made.stderr);
    assert.equal(JSON.parse(made.stdout).status.phase, 'Pending');
    await cluster.must('kubectl', ['-n', 't1', 'delete', 'vmi', 'claimed', '--wait=false']);
  });

  await t.test('where a machine may run is what its Pod asks for, and its priority class has to be one that Pods may have', async () => {
    const placed = await asEd(['create', '-f', '-'], machine('placed', { nodeSelector: { disk: 'fast' }, schedulerName: 'other' }));
    assert.equal(placed.code, 0, placed.stderr);
    const { spec } = await podOf('placed');
    assert.deepEqual([spec.nodeSelector?.['disk'], spec.schedulerName], ['fast', 'other']);

    const priorityClassName = 'there-is-none';
    const containers = [{ name: 'c', image: 'x' }];
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { priorityClassName, containers } };
    const ofPod = await asEd(['create', '-f', '-'], pod);
    await asEd(['create', '-f', '-'], machine('urgent', { priorityClassName }));
    await cluster.must('kubectl', ['-n', 't1', 'delete', 'pod', 'p', '--ignore-not-found', '--grace-period=0', '--force']);
    if (ofPod.code === 0) assert.equal((await podOf('urgent')).spec.priorityClassName, priorityClassName);
    const pods = JSON.parse(await cluster.must('kubectl', ['-n', 't1', 'get', 'pods', '-o', 'json'])).items as Pod[];
    assert.equal(
      pods.some((each) => each.spec.priorityClassName === priorityClassName),
      ofPod.code === 0,
      ofPod.stderr,
    );
  });
});
