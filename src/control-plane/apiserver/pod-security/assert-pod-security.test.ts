import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { NAMESPACES } from '../../../api/core/namespace.ts';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { grant, outcome } from '../access/rights.testing.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const SAFE = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

function pod(spec: object = {}, container: object = {}, metadata: object = {}): Pod {
  const containers = [{ name: 'c', image: 'i', ...container }];
  // Wrong shapes and fields that our own types do not have are the point of these tests.
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', ...metadata },
    spec: { containers, ...spec },
  } as Pod;
}

async function start(t: TestContext): Promise<TestServer> {
  const server = await startTestServer();
  t.after(() => server.close());
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }];
  await grant(server.client, { rules, subject: { kind: 'Group', name: 'system:authenticated' } });
  return server;
}

const REFUSED: readonly [title: string, pod: Pod, message: RegExp][] = [
  ['the network of the host', pod({ hostNetwork: true }), /host namespaces \(hostNetwork=true\)/],
  ['the processes of the host', pod({ hostPID: true, hostIPC: true }), /host namespaces \(hostPID=true, hostIPC=true\)/],
  ['a folder of the host', pod({ volumes: [{ name: 'v', hostPath: { path: '/etc' } }] }), /hostPath volumes \(volume "v"\)/],
  ['a folder of the host to be made', pod({ volumes: [{ name: 'v', hostPath: { path: '/x', type: 'FileOrCreate' } }] }), /hostPath/],
  ['a privileged container', pod({}, { securityContext: { privileged: true } }), /privileged \(container "c" must not set/],
  [
    'a privileged init container',
    pod({ initContainers: [{ name: 'i', image: 'i', securityContext: { privileged: true } }] }),
    /privileged/,
  ],
  ['a capability', pod({}, { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }), /must not include "SYS_ADMIN"/],
  ['a port of the host', pod({}, { ports: [{ containerPort: 80, hostPort: 80 }] }), /hostPort/],
  [
    'a probe of another host',
    pod({}, { livenessProbe: { httpGet: { port: 80, host: '127.0.0.1' } } }),
    /probe or lifecycle host \(container "c" must not have "127.0.0.1" asked/,
  ],
  ['a probe of a port elsewhere', pod({}, { readinessProbe: { tcpSocket: { port: 80, host: 'metadata' } } }), /lifecycle host/],
  ['a first probe of another host', pod({}, { startupProbe: { httpGet: { port: 80, host: '::1' } } }), /lifecycle host/],
  [
    'a sidecar with such a probe',
    pod({ initContainers: [{ name: 'i', image: 'i', livenessProbe: { httpGet: { port: 1, host: 'x' } } }] }),
    /"i" must not/,
  ],
  ['a hook that asks another host', pod({}, { lifecycle: { preStop: { httpGet: { port: 80, host: '10.96.0.1' } } } }), /lifecycle host/],
  ['a first hook that does', pod({}, { lifecycle: { postStart: { tcpSocket: { port: 80, host: '10.96.0.1' } } } }), /lifecycle host/],
  ['no seccomp', pod({ securityContext: { seccompProfile: { type: 'Unconfined' } } }), /seccompProfile/],
  ['no AppArmor', pod({}, { securityContext: { appArmorProfile: { type: 'Unconfined' } } }), /AppArmor/],
  ['an unmasked /proc', pod({}, { securityContext: { procMount: 'Unmasked' } }), /procMount/],
  ['a setting of the kernel', pod({ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }), /sysctls \(kernel.msgmax\)/],
  ['root', pod({ securityContext: { runAsUser: 0 } }), /runAsUser=0/],
  ['root in one container', pod({}, { securityContext: { runAsUser: 0 } }), /runAsUser=0 \(container "c"/],
  ['the group of root', pod({ securityContext: { runAsUser: 1, runAsGroup: 0 } }), /runAsUser=0/],
  ['files of root', pod({ securityContext: { fsGroup: 0 } }), /fsGroup=0/],
  ['the launcher', pod({}, { image: 'kubevirt-ts/virt-launcher' }), /virt-launcher \(container "c" must not use its image/],
  ['the launcher by its registry', pod({}, { image: 'docker.io/kubevirt-ts/virt-launcher:v1@sha256:00' }), /must not use its image/],
  ['its node from the beginning', pod({ nodeName: 'n' }), /nodeName \(only the scheduler gives/],
  ['the word of a node that it runs', pod({}, {}, { annotations: { 'kubernetes.io/config.mirror': '' } }), /only a node makes Pods/],
  ...[
    ['export.kubevirt.io/v1beta1', 'VirtualMachineExport'],
    ['cdi.kubevirt.io/v1beta1', 'DataVolume'],
  ].map(([apiVersion, kind]): (typeof REFUSED)[number] => [
    `a ${kind} as its owner`,
    pod({}, {}, { ownerReferences: [{ apiVersion, kind, name: 'db', uid: 'u', controller: true }] }),
    new RegExp(`only virt-controller makes Pods that are controlled by a ${kind}`),
  ]),
  [
    'an instance as its owner',
    pod(
      {},
      {},
      { ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'db', uid: 'u', controller: true }] },
    ),
    /only virt-controller makes Pods that are controlled by a VirtualMachineInstance/,
  ],
];

describe('Pod Security "baseline" holds in every namespace', () => {
  for (const [title, wanted, message] of REFUSED) {
    test(`a Pod with ${title} is refused to users and made by administrators and components`, async (t) => {
      const { client, clientAs } = await start(t);
      const refusal = await outcome(clientAs('ann').create(PODS, wanted));
      assert.match(refusal, /^pods "p" is forbidden: violates PodSecurity "baseline:latest": /);
      assert.match(refusal, message);
      assert.equal(await outcome(client.create(PODS, wanted)), 'ok');
      const other = { ...wanted, metadata: { ...wanted.metadata, name: 'q' } };
      assert.equal(await outcome(clientAs('system:serviceaccount:kubevirt:kubevirt-controller').create(PODS, other)), 'ok');
    });
  }

  test('an ordinary Pod is made', async (t) => {
    const { clientAs } = await start(t);
    const wanted = pod(
      { securityContext: { runAsUser: 1000 }, volumes: [{ name: 'v', emptyDir: {} }] },
      { ports: [{ containerPort: 80 }] },
    );
    assert.equal(await outcome(clientAs('ann').create(PODS, wanted)), 'ok');
  });

  test('a Pod cannot be changed into one that would be refused', async (t) => {
    const { clientAs } = await start(t);
    const ann = clientAs('ann');
    await ann.create(PODS, pod());
    const patch = { spec: { containers: [{ name: 'c', image: 'kubevirt-ts/virt-launcher' }] } };
    assert.match(await outcome(ann.patch(PODS, { namespace: 'default', name: 'p' }, patch)), /must not use its image/);
    const unwatched = { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } };
    assert.match(await outcome(ann.patch(PODS, { namespace: 'default', name: 'p' }, unwatched)), /only a node makes Pods/);
    assert.equal(await outcome(ann.patch(PODS, { namespace: 'default', name: 'p' }, { metadata: { labels: { a: 'b' } } })), 'ok');
  });

  test('the label "privileged" of a namespace loosens nothing', async (t) => {
    const { client, clientAs } = await start(t);
    await label(client, 'privileged');
    assert.match(await outcome(clientAs('ann').create(PODS, pod({ hostNetwork: true }))), /violates PodSecurity "baseline:latest"/);
  });
});

describe('Pod Security "restricted" holds where the label of a namespace asks for it', () => {
  test('a Pod that says nothing is refused with everything that it must say', async (t) => {
    const { client, clientAs } = await start(t);
    await label(client, 'restricted');
    const refusal = await outcome(clientAs('ann').create(PODS, pod()));
    assert.match(
      refusal,
      /violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false .*runAsNonRoot.*seccompProfile.*capabilities/,
    );
    assert.equal(await outcome(clientAs('ann').create(PODS, pod({}, { securityContext: SAFE }))), 'ok');
  });
});

async function label(client: TestServer['client'], level: string): Promise<void> {
  await client.patch(NAMESPACES, { name: 'default' }, { metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } } });
}
