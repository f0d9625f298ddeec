import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import { tinySpec, vmi } from '../../testing/builders.ts';
import { launcherPodFor } from './launcher-pod.ts';
import { launcherResources, offersKvm } from './launcher-resources.ts';

const podFor = (spec: VmiSpec = tinySpec, metadata: Partial<ObjectMeta> = {}) =>
  launcherPodFor({ ...vmi('Pending', {}, metadata), spec }, { image: 'launcher' });

describe('launcherPodFor', () => {
  test('carries labels and annotations of the VMI, and its own, but none that would loosen it', () => {
    const annotations = {
      a: 'b',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'container.apparmor.security.beta.kubernetes.io/compute': 'unconfined',
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
    };
    const { metadata } = podFor(tinySpec, { labels: { app: 'db' }, annotations });
    assert.deepEqual(metadata.labels, {
      app: 'db',
      'kubevirt.io': 'virt-launcher',
      'kubevirt.io/created-by': 'vmi-1',
      'vm.kubevirt.io/name': 'db',
      'vmi.kubevirt.io/id': 'db',
    });
    assert.deepEqual(metadata.annotations, { a: 'b', 'kubevirt.io/domain': 'db', 'kubectl.kubernetes.io/default-container': 'compute' });
    assert.equal(metadata.ownerReferences?.[0]?.uid, 'vmi-1');
  });

  test('is admitted under the restricted Pod security standard', () => {
    const { securityContext, containers } = podFor().spec;
    assert.deepEqual(securityContext, {
      runAsUser: 107,
      runAsGroup: 107,
      runAsNonRoot: true,
      fsGroup: 107,
      seccompProfile: { type: 'RuntimeDefault' },
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    });
    assert.deepEqual(containers[0]?.securityContext, {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      readOnlyRootFilesystem: true,
    });
  });

  test('has the probes of the VMI; a guest that is not alive any more is not waited for', () => {
    const httpGet = { path: '/', port: 80 };
    const { containers } = podFor({ ...tinySpec, readinessProbe: { httpGet, periodSeconds: 2 }, livenessProbe: { httpGet } }).spec;
    assert.deepEqual(
      [containers[0]?.readinessProbe, containers[0]?.livenessProbe],
      [
        { httpGet, periodSeconds: 2, initialDelaySeconds: 10 },
        { httpGet, initialDelaySeconds: 10, terminationGracePeriodSeconds: 1 },
      ],
    );
  });

  test('a readiness probe inside the guest is a gate, not a question for the kubelet', () => {
    const exec = { command: ['true'] };
    const { containers, readinessGates } = podFor({ ...tinySpec, readinessProbe: { exec }, livenessProbe: { guestAgentPing: {} } }).spec;
    assert.deepEqual(
      [containers[0]?.readinessProbe, containers[0]?.livenessProbe, readinessGates?.map(({ conditionType }) => conditionType)],
      [undefined, undefined, ['kubevirt.io/virtual-machine-unpaused', 'kubevirt.io/guest-ready']],
    );
  });

  test('where there are no image volumes, the image of a disk is a container beside, whose processes are shared', () => {
    const volumes: VmiSpec['volumes'] = [{ name: 'root', containerDisk: { image: 'guest', imagePullPolicy: 'Never' } }];
    const { spec } = launcherPodFor(
      { ...vmi('Pending'), spec: { ...tinySpec, volumes } },
      { image: 'launcher', containerDisks: 'container' },
    );
    const share = { name: 'container-disks', mountPath: '/var/run/kubevirt-disk-share' };
    const [compute, disk] = spec.containers;
    assert.equal(spec.shareProcessNamespace, true);
    assert.deepEqual(
      spec.volumes?.filter(({ image, name }) => image || name === share.name),
      [{ name: share.name, emptyDir: {} }],
    );
    assert.deepEqual(
      [compute?.lifecycle?.postStart?.exec.command, compute?.volumeMounts?.at(-1), compute?.env?.at(-1)],
      [['virt-launcher-share', share.mountPath], share, { name: 'KUBEVIRT_DISK_SHARE', value: share.mountPath }],
    );
    assert.deepEqual(disk, {
      name: 'volumeroot',
      image: 'guest',
      imagePullPolicy: 'Never',
      command: [`${share.mountPath}/busybox`, 'sh', `${share.mountPath}/hold`, share.mountPath, 'root'],
      resources: { requests: { cpu: '1m', memory: '1Mi' }, limits: { memory: '40Mi' } },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
      volumeMounts: [share],
    });
  });

  test('a container of a disk does not take a Pod out of the Guaranteed class', () => {
    const volumes: VmiSpec['volumes'] = [{ name: 'root', containerDisk: { image: 'guest' } }];
    const domain = { ...tinySpec.domain, resources: { limits: { memory: '128Mi', cpu: '500m' } } };
    const options = { image: 'launcher', containerDisks: 'container' } as const;
    const [, disk] = launcherPodFor({ ...vmi('Pending'), spec: { ...tinySpec, domain, volumes } }, options).spec.containers;
    assert.deepEqual(disk?.resources?.requests, disk?.resources?.limits);
  });

  test('asks for KVM where nodes have it, and is of no other class for that', () => {
    const options = { image: 'launcher', containerDisks: 'container', hasKvm: true } as const;
    const volumes: VmiSpec['volumes'] = [{ name: 'root', containerDisk: { image: 'guest' } }];
    const [compute, disk] = launcherPodFor({ ...vmi('Pending'), spec: { ...tinySpec, volumes } }, options).spec.containers;
    assert.deepEqual(compute?.resources?.limits, { 'devices.kubevirt.io/kvm': '1' });
    assert.deepEqual(disk?.resources?.limits, { memory: '40Mi' });
    const node = (count: string) =>
      ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status: { allocatable: { 'devices.kubevirt.io/kvm': count } } }) as const;
    assert.deepEqual(
      ['1k', '0'].map((count) => offersKvm(node(count))),
      [true, false],
    );
  });

  test('a container of a disk has a limited processor where its guest has one, as a quota may want it', () => {
    const volumes: VmiSpec['volumes'] = [{ name: 'root', containerDisk: { image: 'guest' } }];
    const domain = { ...tinySpec.domain, resources: { requests: { cpu: '100m' }, limits: { cpu: '500m' } } };
    const options = { image: 'launcher', containerDisks: 'container' } as const;
    const [, disk] = launcherPodFor({ ...vmi('Pending'), spec: { ...tinySpec, domain, volumes } }, options).spec.containers;
    assert.deepEqual(disk?.resources, { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '50m', memory: '40Mi' } });
  });

  test('a claim in Block mode is a device, one in Filesystem mode a folder', () => {
    const volumes: VmiSpec['volumes'] = ['raw', 'folder'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    const claims = new Map([
      ['raw', { metadata: {}, spec: { volumeMode: 'Block' } } as PersistentVolumeClaim],
      ['folder', { metadata: {}, spec: {} } as PersistentVolumeClaim],
    ]);
    const { containers } = launcherPodFor({ ...vmi('Pending'), spec: { ...tinySpec, volumes } }, { image: 'launcher', claims }).spec;
    assert.deepEqual(
      [containers[0]?.volumeDevices, containers[0]?.volumeMounts?.slice(2)],
      [[{ name: 'claim-raw', devicePath: '/dev/raw' }], [{ name: 'claim-folder', mountPath: '/var/run/kubevirt-vmi-disks/folder' }]],
    );
  });

  test('ends later than the grace period of its guest and waits for it to be ready', () => {
    const { terminationGracePeriodSeconds, readinessGates, restartPolicy, nodeSelector } = podFor({
      ...tinySpec,
      nodeSelector: { disk: 'ssd' },
    }).spec;
    assert.deepEqual(
      [terminationGracePeriodSeconds, readinessGates, restartPolicy, nodeSelector],
      [35, [{ conditionType: 'kubevirt.io/virtual-machine-unpaused' }], 'Never', { disk: 'ssd', 'kubevirt.io/schedulable': 'true' }],
    );
  });

  test('mounts the Secrets of access credentials, each once', () => {
    const key = { sshPublicKey: { source: { secret: { secretName: 'keys' } }, propagationMethod: { noCloud: {} } } };
    const seen = { ...vmi('Pending'), spec: { ...vmi('Pending').spec, accessCredentials: [key, key] } };
    const { volumes = [], containers } = launcherPodFor(seen, { image: 'launcher' }).spec;
    const name = volumes.find(({ secret }) => secret?.secretName === 'keys')?.name;
    const mounts = containers[0]?.volumeMounts?.filter((mount) => mount.name === name);
    assert.deepEqual(mounts, [{ name, mountPath: `/var/run/kubevirt-access-credentials/${name}`, readOnly: true }]);
  });

  test('mounts container disks and cloud-init Secrets', () => {
    const long = 'v'.repeat(63);
    const volumes: VmiSpec['volumes'] = [
      { name: 'root', containerDisk: { image: 'guest', imagePullPolicy: 'Never' } },
      { name: long, registryDisk: { image: 'old' } },
      { name: 'init', cloudInitNoCloud: { secretRef: { name: 'userdata' } } },
      { name: 'inline', cloudInitNoCloud: { userData: '#!/bin/sh' } },
      { name: 'scratch', emptyDisk: { capacity: '1Gi' } },
    ];
    const { spec } = podFor({ ...tinySpec, volumes });
    const [longName = ''] = spec.volumes?.filter(({ image }) => image?.reference === 'old').map(({ name }) => name) ?? [];
    assert.equal(longName.length, 63);
    assert.deepEqual(spec.volumes, [
      { name: 'public', emptyDir: {} },
      { name: 'private', emptyDir: {} },
      { name: 'disk-root', image: { reference: 'guest', pullPolicy: 'Never' } },
      { name: longName, image: { reference: 'old' } },
      { name: 'secret-init', secret: { secretName: 'userdata' } },
    ]);
    assert.deepEqual(spec.containers[0]?.volumeMounts?.slice(2), [
      { name: 'disk-root', mountPath: '/var/run/kubevirt-container-disks/root', readOnly: true },
      { name: longName, mountPath: `/var/run/kubevirt-container-disks/${long}`, readOnly: true },
      { name: 'secret-init', mountPath: '/var/run/kubevirt-private-secrets/init', readOnly: true },
    ]);
  });

  test('hands over the VMI without anything that a kubelet would expand', () => {
    const userData = '#!/bin/sh\necho $$ $(HOME)';
    const spec = { ...tinySpec, volumes: [{ name: 'init', cloudInitNoCloud: { userData } }] };
    const value = podFor(spec).spec.containers[0]?.env?.find(({ name }) => name === 'KUBEVIRT_VMI')?.value ?? '';
    assert.ok(!value.includes('$'));
    assert.deepEqual(JSON.parse(value), {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { name: 'db', namespace: 'default', uid: 'vmi-1' },
      spec,
    });
  });

  test('one VMI has one Pod name, another incarnation another', () => {
    const name = (uid: string, of = 'db') => launcherPodNameOf(vmi('Pending', {}, { uid, name: of }));
    assert.equal(name('a'), name('a'));
    assert.notEqual(name('a'), name('b'));
    assert.match(name('a'), /^virt-launcher-db-[a-z0-9]{5}$/);
    assert.equal(name('a', 'x'.repeat(200)).length, 63);
  });
});

describe('launcherResources', () => {
  const of = (domain: Partial<VmiSpec['domain']>) => launcherResources({ domain: { devices: {}, ...domain } });
  test('memory of the guest and QEMU, a tenth of a processor for each of its own', () => {
    assert.deepEqual(of({ cpu: { cores: 2 }, memory: { guest: '128Mi' } }), { requests: { memory: '236Mi', cpu: '200m' } });
  });
  test('a guest without graphics needs less, a large one more', () => {
    const memoryOf = (guest: string, devices: VmiSpec['domain']['devices']) => of({ memory: { guest }, devices }).requests?.['memory'];
    assert.equal(memoryOf('128Mi', { autoattachGraphicsDevice: false }), '208Mi');
    assert.equal(memoryOf('512Mi', {}), '708Mi');
  });

  test('explicit requests win', () => {
    const requests = { memory: '64Mi', cpu: 1, 'example.com/fpga': 2 };
    assert.deepEqual(of({ memory: { guest: '1Gi' }, resources: { requests } }), {
      requests: { 'example.com/fpga': '2', memory: '260Mi', cpu: '1' },
    });
  });
  test('only limits make a guaranteed Pod', () => {
    const { requests, limits } = of({ resources: { limits: { memory: '128Mi', cpu: '500m' } } });
    assert.deepEqual(
      [requests, limits],
      [
        { memory: '228Mi', cpu: '500m' },
        { memory: '228Mi', cpu: '500m' },
      ],
    );
  });
});
