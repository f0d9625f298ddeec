/** A manifest for each published feature that needs no hardware, no CDI and no migration, and what becomes of it. Nothing of it boots. */

type Spec = Readonly<Record<string, unknown>>;
export type Feature = {
  readonly name: string;
  readonly spec: Spec;
  /** What it comes to: it runs, or a condition says what it waits for, by its reason. */
  readonly becomes: 'Running' | { readonly condition: string; readonly reason: string };
};

const domain = (parts: object, devices: object = {}): Spec => ({ domain: { memory: { guest: '4Mi' }, ...parts, devices } });
const devices = (parts: object): Spec => domain({}, parts);
/** A disk of the name `data` beside its volume. */
const volume = (source: object, disk: object = { disk: { bus: 'virtio' } }): Spec => ({
  ...devices({ disks: [{ name: 'data', ...disk }] }),
  volumes: [{ name: 'data', ...source }],
});
const card = (parts: object): Spec => ({
  ...devices({ interfaces: [{ name: 'default', masquerade: {}, ...parts }] }),
  networks: [{ name: 'default', pod: {} }],
});
const disks = (...list: object[]): Spec => ({
  ...devices({ disks: list.map((disk, index) => ({ name: `d${index}`, ...disk })) }),
  volumes: list.map((_, index) => ({ name: `d${index}`, emptyDisk: { capacity: '1Mi' } })),
});
const runs = (name: string, spec: Spec): Feature => ({ name, spec, becomes: 'Running' });
const waits = (name: string, spec: Spec, condition: string, reason: string): Feature => ({ name, spec, becomes: { condition, reason } });

/** What the manifests name. */
export const NEEDED_OBJECTS: readonly object[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'files' }, data: { 'autounattend.xml': '<x/>', greeting: 'hello' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { me: 'ssh-ed25519 AAAA me', userdata: '#!/bin/true' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'network' }, stringData: { networkdata: 'version: 2' } },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'for-two' },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '16Mi' } } },
  },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'answers' }, stringData: { 'unattend.xml': '<x/>' } },
];

const key = (propagationMethod: object) => ({ sshPublicKey: { source: { secret: { secretName: 'keys' } }, propagationMethod } });
const BASE64 = { userData: 'IyEvYmluL3RydWUK', networkData: 'dmVyc2lvbjogMgo=' };
const enabled = { enabled: true };
const off = { present: false };
const anyNode = {
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [{ key: 'x', operator: 'Exists' }] } }],
};

/** A machine without a disk: QEMU runs, and nothing boots. */
export const GUESTLESS = devices({});

/** Two machines write to it at the same time. */
const SHARED = volume({ persistentVolumeClaim: { claimName: 'for-two' } }, { disk: { bus: 'virtio' }, shareable: true });

export const FEATURES: readonly Feature[] = [
  runs('guestless', GUESTLESS),
  runs('cloud-init-no-cloud', volume({ cloudInitNoCloud: { secretRef: { name: 'keys' }, networkData: 'version: 2' } })),
  runs('cloud-init-config-drive', {
    ...volume({ cloudInitConfigDrive: { userData: '#!/bin/true', networkData: '{}' } }),
    accessCredentials: [key({ configDrive: {} })],
  }),
  runs('cloud-init-base64', {
    ...volume({ cloudInitNoCloud: { userDataBase64: BASE64.userData, networkDataBase64: BASE64.networkData } }),
    accessCredentials: [key({ noCloud: {} })],
  }),
  runs('config-drive-base64', volume({ cloudInitConfigDrive: { userDataBase64: BASE64.userData, networkDataBase64: BASE64.networkData } })),
  runs('cloud-init-network-secret', volume({ cloudInitNoCloud: { userData: '#!/bin/true', networkDataSecretRef: { name: 'network' } } })),
  runs(
    'config-drive-secrets',
    volume({ cloudInitConfigDrive: { secretRef: { name: 'keys' }, networkDataSecretRef: { name: 'network' } } }),
  ),
  runs('credentials-by-agent', {
    ...devices({}),
    readinessProbe: { exec: { command: ['true'] }, failureThreshold: 100 },
    livenessProbe: { guestAgentPing: {}, initialDelaySeconds: 600 },
    accessCredentials: [
      key({ qemuGuestAgent: { users: ['root'] } }),
      { userPassword: { source: { secret: { secretName: 'keys' } }, propagationMethod: { qemuGuestAgent: {} } } },
    ],
  }),
  runs('config-map-disk', volume({ configMap: { name: 'files', optional: false, volumeLabel: 'files' } })),
  runs('secret-disk', volume({ secret: { secretName: 'keys', volumeLabel: 'keys', optional: false } }, { cdrom: { bus: 'sata' } })),
  runs(
    'downward-api-disk',
    volume({ downwardAPI: { fields: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }], volumeLabel: 'about' } }),
  ),
  // Paused, because there is something to boot on it.
  runs('container-disk', {
    ...volume({
      containerDisk: {
        ...{ image: 'localhost/guests/tiny:latest', path: '/disk/disk.img' },
        ...{ imagePullPolicy: 'IfNotPresent', imagePullSecret: 'pull' },
      },
    }),
    startStrategy: 'Paused',
  }),
  waits(
    'kernel-boot',
    domain({
      firmware: {
        kernelBoot: {
          kernelArgs: 'console=ttyS0',
          container: {
            ...{ image: 'localhost/not/there:1', imagePullPolicy: 'Never', imagePullSecret: 'pull' },
            ...{ kernelPath: '/boot/vmlinuz', initrdPath: '/boot/initrd' },
          },
        },
      },
    }),
    'Synchronized',
    'ErrImagePull',
  ),
  runs('service-account-disk', volume({ serviceAccount: { serviceAccountName: 'default' } })),
  runs('sysprep', volume({ sysprep: { configMap: { name: 'files' } } }, { cdrom: { bus: 'sata' } })),
  runs('sysprep-secret', volume({ sysprep: { secret: { name: 'answers' } } }, { cdrom: { bus: 'sata' } })),
  runs(
    'buses-and-blocks',
    disks(
      { disk: { bus: 'virtio' }, cache: 'none', io: 'native', errorPolicy: 'report', dedicatedIOThread: true, tag: 'fast' },
      {
        disk: { bus: 'virtio', pciAddress: '0000:00:10.0' },
        blockSize: { custom: { logical: 4096, physical: 4096, discardGranularity: 4096 } },
      },
      { disk: { bus: 'scsi', readonly: true }, serial: 'S1', blockSize: { matchVolume: enabled } },
      { disk: { bus: 'usb' } },
      { cdrom: { bus: 'sata', readonly: true, tray: 'closed' }, bootOrder: 1 },
    ),
  ),
  runs('network-boot', card({ model: 'e1000', bootOrder: 1, acpiIndex: 3, macAddress: '02:11:22:33:44:55', state: 'up', tag: 'lan' })),
  runs('ports', {
    ...card({
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      portRanges: [{ start: 8000, end: 8010, protocol: 'UDP' }],
      pciAddress: '0000:00:11.0',
    }),
    networks: [{ name: 'default', pod: { vmNetworkCIDR: '10.11.12.0/24' } }],
    readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 600 },
    livenessProbe: { httpGet: { port: 80 }, initialDelaySeconds: 600 },
  }),
  runs('no-devices', {
    ...devices({
      ...{ autoattachGraphicsDevice: false, autoattachSerialConsole: false, autoattachMemBalloon: false },
      ...{ autoattachPodInterface: false, autoattachInputDevice: true },
    }),
  }),
  runs(
    'no-acpi',
    domain({
      features: { acpi: { enabled: false }, apic: { enabled: true, endOfInterrupt: true }, hypervPassthrough: { enabled: false } },
    }),
  ),
  runs(
    'devices',
    devices({
      ...{ useVirtioTransitional: true, disableHotplug: true, blockMultiQueue: true, networkInterfaceMultiqueue: true, rng: {} },
      ...{ watchdog: { name: 'w', i6300esb: { action: 'reset' } }, sound: { name: 's', model: 'ich9' }, video: { type: 'virtio' } },
      ...{ inputs: [{ name: 't', type: 'tablet', bus: 'usb' }], panicDevices: [{ model: 'isa' }], logSerialConsole: false },
    }),
  ),
  runs(
    'board',
    domain({
      ...{ cpu: { cores: 2, maxSockets: 4, model: 'qemu64', features: [{ name: 'aes', policy: 'optional' }] }, machine: { type: 'q35' } },
      chassis: { manufacturer: 'Acme', version: '1', serial: '2', asset: '3', sku: '4' },
      ...{ firmware: { serial: 'S', bootloader: { bios: { useSerial: true } } }, ioThreadsPolicy: 'auto', rebootPolicy: 'Terminate' },
      clock: {
        timezone: 'Europe/Berlin',
        timer: { hpet: { ...off, tickPolicy: 'delay' }, pit: { ...off, tickPolicy: 'delay' }, kvm: off, hyperv: off },
      },
      features: { smm: enabled, kvm: { hidden: true }, pvspinlock: enabled },
      memory: { guest: '4Mi', maxGuest: '8Mi', reservedOverhead: { addedOverhead: '1Mi', memLock: 'NotRequired' } },
      resources: { overcommitGuestOverhead: true, requests: { cpu: '10m' }, limits: { cpu: '1' } },
    }),
  ),
  runs(
    'hyperv',
    domain({
      cpu: { sockets: 2, threads: 1 },
      firmware: { uuid: '5d307ca9-b3ef-428c-8861-06e72d69f223' },
      clock: { utc: { offsetSeconds: 3600 }, timer: { rtc: { present: true, tickPolicy: 'catchup', track: 'guest' } } },
      features: {
        hyperv: {
          ...{ relaxed: enabled, vapic: enabled, vpindex: enabled, runtime: enabled, synic: enabled, reset: enabled },
          ...{ frequencies: enabled, reenlightenment: enabled, ipi: enabled, evmcs: { enabled: false } },
          spinlocks: { enabled: true, spinlocks: 8191 },
          vendorid: { enabled: true, vendorid: 'vendor' },
          synictimer: { enabled: true, direct: enabled },
          tlbflush: { enabled: true, direct: enabled, extended: enabled },
        },
      },
    }),
  ),
  runs('names-and-dns', {
    ...devices({}),
    ...{ hostname: 'host', subdomain: 'sub', dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.1'], searches: ['example.com'] } },
  }),
  runs('placement', {
    ...devices({}),
    ...{ architecture: 'amd64', schedulerName: 'default-scheduler', affinity: { nodeAffinity: anyNode } },
    serviceAccountName: 'default',
    tolerations: [{ key: 'x', operator: 'Exists' }],
    topologySpreadConstraints: [
      {
        maxSkew: 5,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { a: 'b' } },
      },
    ],
  }),
  runs('probes', {
    ...card({}),
    terminationGracePeriodSeconds: 0,
    readinessProbe: { guestAgentPing: {}, failureThreshold: 100, successThreshold: 1 },
    livenessProbe: { exec: { command: ['true'] }, initialDelaySeconds: 600, periodSeconds: 600, timeoutSeconds: 5, failureThreshold: 100 },
  }),
  runs('probes-by-http', {
    ...card({}),
    readinessProbe: { httpGet: { port: 80 }, initialDelaySeconds: 600, periodSeconds: 600, timeoutSeconds: 5 },
    livenessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 600, successThreshold: 1 },
  }),
  runs('started-paused', { ...devices({}), startStrategy: 'Paused' }),
  runs('external-eviction', { ...devices({}), evictionStrategy: 'External' }),
  ...['shared-disk-one', 'shared-disk-two'].map((name) => runs(name, SHARED)),
  waits('claim', volume({ persistentVolumeClaim: { claimName: 'not-there', readOnly: true } }), 'Synchronized', 'FailedPvcNotFound'),
  waits(
    'ephemeral-claim',
    volume({ ephemeral: { persistentVolumeClaim: { claimName: 'not-there' } } }),
    'Synchronized',
    'FailedPvcNotFound',
  ),
  waits('data-volume', volume({ dataVolume: { name: 'not-there' } }), 'Synchronized', 'FailedPvcNotFound'),
  waits('no-such-node', { ...devices({}), nodeSelector: { 'example.com/no': 'where' } }, 'PodScheduled', 'Unschedulable'),
  waits('too-large', domain({ resources: { requests: { memory: '1Ei' } } }), 'PodScheduled', 'Unschedulable'),
];

/** Its object, for somebody who wants it to run. Processors are asked for in name only: all of them are to fit on the smallest node. */
export function manifestOf({ name, spec }: Feature): object {
  const metadata = { name, labels: { feature: name } };
  const { resources, ...rest } = spec['domain'] as { resources?: { requests?: object } };
  const requests = { cpu: '1m', ...resources?.requests };
  const whole = { terminationGracePeriodSeconds: 0, ...spec, domain: { ...rest, resources: { ...resources, requests } } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: whole };
}
