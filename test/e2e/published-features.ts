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
];

export const FEATURES: readonly Feature[] = [
  runs('guestless', devices({})),
  runs('cloud-init-no-cloud', volume({ cloudInitNoCloud: { secretRef: { name: 'keys' }, networkData: 'version: 2' } })),
  runs('cloud-init-config-drive', {
    ...volume({ cloudInitConfigDrive: { userData: '#!/bin/true' } }),
    accessCredentials: [{ sshPublicKey: { source: { secret: { secretName: 'keys' } }, propagationMethod: { configDrive: {} } } }],
  }),
  runs('config-map-disk', volume({ configMap: { name: 'files' } })),
  runs('secret-disk', volume({ secret: { secretName: 'keys', volumeLabel: 'keys' } }, { cdrom: { bus: 'sata' } })),
  runs('downward-api-disk', volume({ downwardAPI: { fields: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } })),
  runs('service-account-disk', volume({ serviceAccount: { serviceAccountName: 'default' } })),
  runs('sysprep', volume({ sysprep: { configMap: { name: 'files' } } }, { cdrom: { bus: 'sata' } })),
  runs(
    'buses-and-blocks',
    disks(
      { disk: { bus: 'virtio' }, cache: 'none', io: 'native', errorPolicy: 'report', dedicatedIOThread: true, tag: 'fast' },
      { disk: { bus: 'virtio', pciAddress: '0000:00:10.0' }, blockSize: { custom: { logical: 4096, physical: 4096 } } },
      { disk: { bus: 'scsi' }, serial: 'S1', blockSize: { matchVolume: {} } },
      { disk: { bus: 'usb' } },
      { cdrom: { bus: 'sata' }, bootOrder: 1 },
    ),
  ),
  runs('network-boot', card({ model: 'e1000', bootOrder: 1, acpiIndex: 3, macAddress: '02:11:22:33:44:55', state: 'up' })),
  runs('ports', card({ ports: [{ name: 'http', port: 80 }], portRanges: [{ start: 8000, end: 8010 }], pciAddress: '0000:00:11.0' })),
  runs(
    'devices',
    devices({
      ...{ useVirtioTransitional: true, disableHotplug: true, blockMultiQueue: true, networkInterfaceMultiqueue: true, rng: {} },
      ...{ watchdog: { name: 'w', i6300esb: { action: 'reset' } }, sound: { name: 's' }, video: { type: 'virtio' } },
      ...{ inputs: [{ name: 't', type: 'tablet', bus: 'usb' }], panicDevices: [{ model: 'isa' }], logSerialConsole: false },
    }),
  ),
  runs(
    'board',
    domain({
      ...{ cpu: { cores: 2, maxSockets: 4, model: 'qemu64', features: [{ name: 'aes', policy: 'optional' }] }, chassis: { sku: '1' } },
      ...{ firmware: { serial: 'S', bootloader: { bios: { useSerial: true } } }, ioThreadsPolicy: 'auto', rebootPolicy: 'Terminate' },
      ...{ clock: { timezone: 'Europe/Berlin', timer: { hpet: { tickPolicy: 'delay' } } }, features: { smm: {}, hyperv: { relaxed: {} } } },
      memory: { guest: '4Mi', maxGuest: '8Mi', reservedOverhead: { addedOverhead: '1Mi' } },
      resources: { overcommitGuestOverhead: true, requests: { cpu: '10m' } },
    }),
  ),
  runs('names-and-dns', {
    ...devices({}),
    ...{ hostname: 'host', subdomain: 'sub', dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.1'], searches: ['example.com'] } },
  }),
  runs('placement', {
    ...devices({}),
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
  runs('probes', { ...card({}), readinessProbe: { guestAgentPing: {}, failureThreshold: 100 }, terminationGracePeriodSeconds: 0 }),
  runs('started-paused', { ...devices({}), startStrategy: 'Paused' }),
  runs('external-eviction', { ...devices({}), evictionStrategy: 'External' }),
  waits('claim', volume({ persistentVolumeClaim: { claimName: 'not-there' } }), 'Synchronized', 'FailedPvcNotFound'),
  waits('data-volume', volume({ dataVolume: { name: 'not-there' } }), 'Synchronized', 'FailedPvcNotFound'),
  waits('no-such-node', { ...devices({}), nodeSelector: { 'example.com/no': 'where' } }, 'PodScheduled', 'Unschedulable'),
  waits('too-large', domain({ resources: { requests: { memory: '1Ei' } } }), 'PodScheduled', 'Unschedulable'),
];

/** Its object, for somebody who wants it to run. */
export function manifestOf({ name, spec }: Feature): object {
  const metadata = { name, labels: { feature: name } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: { terminationGracePeriodSeconds: 0, ...spec } };
}
