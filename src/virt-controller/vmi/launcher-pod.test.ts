import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import {
  type ClusterConfiguration,
  clusterConfigurationOf,
  DEFAULT_CONFIGURATION,
} from '../../api/kubevirt/configuration/cluster-configuration.ts';
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
      sysctls: [
        { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' },
        { name: 'net.ipv4.ping_group_range', value: '107 107' },
      ],
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
      [compute?.lifecycle?.postStart?.exec?.command, compute?.volumeMounts?.at(-1), compute?.env?.at(-1)],
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

  test('the folder of a file of the node is mounted when its namespace may have it, and is missing otherwise', () => {
    const volumes: VmiSpec['volumes'] = [{ name: 'file', hostDisk: { path: '/srv/disks/a.img', type: 'Disk' } }];
    const mountsOf = (namespaces?: string[]) => {
      const developerConfiguration = {
        featureGates: ['HostDisk'],
        hostDiskFolders: [{ path: '/srv/disks', ...(namespaces && { namespaces }) }],
      };
      const configuration = clusterConfigurationOf({ developerConfiguration });
      const pod = launcherPodFor({ ...vmi('Pending'), spec: { ...tinySpec, volumes } }, { image: 'launcher', configuration });
      return [pod.spec.volumes?.slice(2), pod.spec.containers[0]?.volumeMounts?.slice(2)];
    };
    const folder = [{ name: 'claim-file', hostPath: { path: '/srv/disks', type: 'Directory' } }];
    const mount = [{ name: 'claim-file', mountPath: '/var/run/kubevirt-vmi-disks/file' }];
    assert.deepEqual(
      [mountsOf(), mountsOf(['default']), mountsOf(['other'])],
      [
        [folder, mount],
        [folder, mount],
        [[], []],
      ],
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

  test('is given resolver, spread, account and Secrets for registries as they are written, and no token', () => {
    const wishes = {
      dnsPolicy: 'None' as const,
      dnsConfig: { nameservers: ['1.1.1.1'] },
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' as const }],
      serviceAccountName: 'builder',
    };
    const containerDisk = { image: 'guest', imagePullSecret: 'login' };
    const volumes = ['a', 'b'].map((name) => ({ name, containerDisk }));
    const { spec } = podFor({ ...tinySpec, ...wishes, volumes });
    const { dnsPolicy, dnsConfig, topologySpreadConstraints, serviceAccountName } = spec;
    assert.deepEqual({ dnsPolicy, dnsConfig, topologySpreadConstraints, serviceAccountName }, wishes);
    assert.deepEqual([spec.automountServiceAccountToken, spec.imagePullSecrets], [false, [{ name: 'login' }]]);
    assert.deepEqual(Object.keys(spec.volumes?.[2]?.image ?? {}), ['reference']);
  });

  test('mounts container disks and cloud-init Secrets', () => {
    const long = 'v'.repeat(63);
    const volumes: VmiSpec['volumes'] = [
      { name: 'root', containerDisk: { image: 'guest', imagePullPolicy: 'Never' } },
      { name: long, registryDisk: { image: 'old' } },
      { name: 'init', cloudInitNoCloud: { secretRef: { name: 'userdata' }, networkDataSecretRef: { name: 'networkdata' } } },
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
      { name: 'network-init', secret: { secretName: 'networkdata' } },
    ]);
    assert.deepEqual(spec.containers[0]?.volumeMounts?.slice(2), [
      { name: 'disk-root', mountPath: '/var/run/kubevirt-container-disks/root', readOnly: true },
      { name: longName, mountPath: `/var/run/kubevirt-container-disks/${long}`, readOnly: true },
      { name: 'secret-init', mountPath: '/var/run/kubevirt-private-secrets/init', readOnly: true },
      { name: 'network-init', mountPath: '/var/run/kubevirt-private-network-data/init', readOnly: true },
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

describe('the configuration of the installation', () => {
  const specWith = (given: Partial<ClusterConfiguration>, spec: VmiSpec = tinySpec, more: object = {}) =>
    launcherPodFor(
      { ...vmi('Pending'), spec },
      { image: 'launcher', hasKvm: true, configuration: { ...DEFAULT_CONFIGURATION, ...given }, ...more },
    ).spec;
  const compute = (given: Partial<ClusterConfiguration>, spec?: VmiSpec) => specWith(given, spec).containers[0];

  test('says when the launcher is pulled, where it runs, and under which class and profiles', () => {
    const { nodeSelector, runtimeClassName, securityContext, containers } = specWith(
      {
        launcherPullPolicy: 'Always',
        nodeSelectors: { disk: 'ssd', zone: 'a' },
        runtimeClass: 'kata',
        seccompProfile: { type: 'Localhost', localhostProfile: 'x.json' },
        selinuxType: 'container_kvm_t',
      },
      { ...tinySpec, nodeSelector: { zone: 'b' } },
    );
    assert.deepEqual(nodeSelector, { disk: 'ssd', zone: 'b', 'kubevirt.io/schedulable': 'true' });
    assert.deepEqual([containers[0]?.imagePullPolicy, runtimeClassName], ['Always', 'kata']);
    assert.deepEqual(securityContext?.seccompProfile, { type: 'Localhost', localhostProfile: 'x.json' });
    assert.deepEqual(securityContext?.seLinuxOptions, { type: 'container_kvm_t' });
  });

  test('emulation asks for no KVM, and tells the launcher', () => {
    assert.equal(compute({})?.resources?.limits?.['devices.kubevirt.io/kvm'], '1');
    const { resources, env } = compute({ isEmulated: true }) ?? {};
    assert.equal(resources?.limits?.['devices.kubevirt.io/kvm'], undefined);
    assert.deepEqual(env?.at(-1), { name: 'KUBEVIRT_ACCEL', value: 'tcg' });
  });

  test('ratios change what a guest asks for, unless it says it itself', () => {
    const guest: VmiSpec = { domain: { cpu: { cores: 2 }, memory: { guest: '300Mi' }, devices: { autoattachGraphicsDevice: false } } };
    assert.deepEqual(launcherResources(guest).requests, { memory: '388Mi', cpu: '200m' });
    const configuration = { ...DEFAULT_CONFIGURATION, overheadRatio: 2, cpuAllocationRatio: 4, memoryOvercommit: 150 };
    assert.deepEqual(launcherResources(guest, { configuration }).requests, { memory: '376Mi', cpu: '500m' });
    const said: VmiSpec = { domain: { ...guest.domain, resources: { requests: { memory: '300Mi', cpu: '1' } } } };
    assert.deepEqual(launcherResources(said, { configuration }).requests, { memory: '476Mi', cpu: '1' });
  });

  test('what is known better of the overhead is asked for on top, and none of it where that is asked', () => {
    const memory = { guest: '300Mi', reservedOverhead: { addedOverhead: '12Mi' } };
    const guest: VmiSpec = { domain: { memory, devices: { autoattachGraphicsDevice: false } } };
    assert.equal(launcherResources(guest).requests?.['memory'], '392Mi');
    const resources = { overcommitGuestOverhead: true, limits: { memory: '300Mi' } };
    const { requests, limits } = launcherResources({ domain: { ...guest.domain, resources } });
    assert.deepEqual([requests?.['memory'], limits?.['memory']], ['300Mi', '392Mi']);
  });

  test('the token of an account is of the account that the Pod runs as, and is mounted for the launcher alone', () => {
    const spec: VmiSpec = { ...tinySpec, volumes: [{ name: 'token', serviceAccount: { serviceAccountName: 'robot' } }] };
    const pod = specWith({}, spec);
    assert.deepEqual([pod.serviceAccountName, pod.automountServiceAccountToken], ['robot', false]);
    assert.ok(pod.volumes?.some(({ projected }) => projected?.sources?.some((source) => source.serviceAccountToken)));
  });

  test('containers that hold disks ask for what it says', () => {
    const resources = { requests: { cpu: '5m' }, limits: { memory: '9Mi' } };
    const spec: VmiSpec = { ...tinySpec, volumes: [{ name: 'root', containerDisk: { image: 'disk:1' } }] };
    const { containers } = specWith({ diskContainerResources: resources }, spec, { containerDisks: 'container' });
    assert.deepEqual(containers[1]?.resources, resources);
  });

  test('a user namespace of its own, except for Pods with block devices, which cannot have one', () => {
    assert.equal('hostUsers' in specWith({}), false);
    assert.equal(specWith({ hasUserNamespaces: true }).hostUsers, false);
    const spec: VmiSpec = { ...tinySpec, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'raw' } }] };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'raw' }, spec: { volumeMode: 'Block' } };
    const claims = new Map([['raw', claim as PersistentVolumeClaim]]);
    assert.equal('hostUsers' in specWith({ hasUserNamespaces: true }, spec, { claims }), false);
  });
});
