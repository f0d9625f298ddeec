import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clusterConfigurationOf } from '../../../api/kubevirt/configuration/cluster-configuration.ts';
import { type JsonObject, mergePatch } from '../../../base/json.ts';
import { type AdmissionWorld, startAdmissionWorld } from '../admission-world.testing.ts';
import { validateVmiSpec } from './validate-vmi-spec.ts';

const GOOD: JsonObject = {
  domain: {
    resources: { requests: { memory: '64M' } },
    devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }], interfaces: [{ name: 'default', masquerade: {} }] },
  },
  networks: [{ name: 'default', pod: {} }],
  volumes: [{ name: 'root', containerDisk: { image: 'x' } }],
};

const domain = (patch: JsonObject) => ({ domain: patch });
const devices = (patch: JsonObject) => domain({ devices: patch });
const disk = (patch: JsonObject) => devices({ disks: [{ name: 'root', ...patch }] });
const card = (patch: JsonObject) => devices({ interfaces: [{ name: 'default', ...patch }] });
const volume = (patch: JsonObject) => ({ volumes: [{ name: 'root', ...patch }] });
const more = (...volumes: JsonObject[]) => ({ volumes: [{ name: 'root', containerDisk: { image: 'x' } }, ...volumes] });
const plug = (name: string) => ({ name, persistentVolumeClaim: { claimName: name, hotpluggable: true } });
/** Hotplugged volumes, each with a disk of this kind. */
const plugged = (names: string[], target: JsonObject) => ({
  ...devices({ disks: [{ name: 'root', disk: { bus: 'virtio' } }, ...names.map((name) => ({ name, ...target }))] }),
  ...more(...names.map(plug)),
});
const manyPorts = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `p${n}`, port: n + 1 }));
const devicesOf = (count: number, bus: string) => {
  const names = Array.from({ length: count }, (_, index) => `d${index}`);
  return {
    ...devices({ disks: names.map((name) => ({ name, disk: { bus } })) }),
    volumes: names.map((name) => ({ name, emptyDisk: { capacity: '1Gi' } })),
  };
};
const cpu = (patch: JsonObject) => domain({ cpu: patch });
const resources = (requests: JsonObject, limits: JsonObject = {}) => domain({ resources: { requests, limits } });
const firmware = (patch: JsonObject) => domain({ firmware: patch });
const credential = (patch: JsonObject) => ({ accessCredentials: [patch] });
const nodeAffinity = (selector: JsonObject) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: selector } },
});
const nodeTerm = (rule: JsonObject) => nodeAffinity({ nodeSelectorTerms: [{ matchExpressions: [rule] }] });
const key = { source: { secret: { secretName: 's' } } };
const BY_AGENT = { propagationMethod: { qemuGuestAgent: { users: ['ada'] } } };

/**
 * A rule, a spec that breaks it, and what the answer must say; an empty answer is a spec that keeps it. Everything is asked of the API server, which
 * says much of it by the schema of the definition alone; the rest is refused by name or by the rules of virt-api.
 */
const RULES: readonly [rule: string, patch: JsonObject, answer: RegExp | ''][] = [
  ['the smallest spec is fine', {}, ''],

  ['hostname is a DNS label', { hostname: 'Not_A_Label' }, /^spec\.hostname: Invalid value: "Not_A_Label"/],
  ['hostname has no dots', { hostname: 'a.b' }, /^spec\.hostname: /],
  ['subdomain is a DNS subdomain', { subdomain: 'a..b' }, /^spec\.subdomain: /],
  ['subdomain may have dots', { subdomain: 'a.b' }, ''],

  ['a token is of an account', more({ name: 'token', serviceAccount: {} }), /volumes\[1\]\.serviceAccount\.serviceAccountName: Required/],
  [
    'a token of the account is fine',
    { serviceAccountName: 'a', ...more({ name: 'token', serviceAccount: { serviceAccountName: 'a' } }) },
    '',
  ],
  [
    'a Pod runs as one account',
    { serviceAccountName: 'a', ...more({ name: 'token', serviceAccount: { serviceAccountName: 'b' } }) },
    /serviceAccountName: .*"a, b".*one account/,
  ],
  ['a priority class is a name', { priorityClassName: 'A B' }, /^spec\.priorityClassName: /],
  ['a scheduler is a name', { schedulerName: 'A B' }, /^spec\.schedulerName: /],

  ['a hotplugged volume without a disk gets one that can be plugged in', more(plug('a')), ''],
  ['hotplugged disks on SCSI share a port', plugged(['a', 'b', 'c', 'd', 'e'], { disk: { bus: 'scsi' } }), ''],
  ['hotplugged disks on virtio have ports', plugged(['a', 'b', 'c'], { disk: { bus: 'virtio' } }), ''],
  ['there are three ports', plugged(['a', 'b', 'c', 'd'], { disk: { bus: 'virtio' } }), /spec\.volumes: .*3 ports.*need 4/],
  [
    'a wrong PCI address is refused with a hotplugged volume, too',
    { ...more(plug('a')), ...card({ masquerade: {}, pciAddress: 'text' }) },
    /interfaces\[0\]\.pciAddress: Invalid value: "text"/,
  ],
  [
    'so are more devices than slots',
    { ...devicesOf(40, 'virtio'), volumes: [...devicesOf(40, 'virtio').volumes, plug('a')] },
    /spec\.domain\.devices: Invalid value/,
  ],
  ['a hotplugged disk is not on SATA', plugged(['a'], { disk: { bus: 'sata' } }), /disks\[1\]\.disk\.bus: .*scsi or virtio/],
  ['a medium comes into a drive on any bus, and needs no port', plugged(['a', 'b', 'c', 'd'], { cdrom: { bus: 'sata' } }), ''],
  ['a drive may be empty', devices({ disks: [{ name: 'root' }, { name: 'cd', cdrom: { bus: 'sata' } }] }), ''],
  ['a machine does not boot from what is hotplugged', plugged(['a'], { disk: { bus: 'scsi' }, bootOrder: 1 }), /disks\[1\]\.bootOrder: /],
  [
    'a machine may take nothing while it runs',
    { ...devices({ disableHotplug: true }), ...more(plug('a')) },
    /spec\.volumes: Forbidden: .*disableHotplug/,
  ],
  ['a disk on virtio can have a place', disk({ disk: { bus: 'virtio', pciAddress: '0000:00:10.0' } }), ''],
  ['a place is on the root bus', disk({ disk: { bus: 'virtio', pciAddress: '0000:81:01.0' } }), /disks\[0\]\.disk\.pciAddress: .*root bus/],
  ['a place is for cards alone', disk({ disk: { bus: 'sata', pciAddress: '0000:00:10.0' } }), /pciAddress: .*only a disk on virtio/],
  [
    'a place is given once',
    devices({
      disks: [{ name: 'root', disk: { bus: 'virtio', pciAddress: '0000:00:10.0' } }],
      interfaces: [{ name: 'default', masquerade: {}, pciAddress: '0000:00:10.0' }],
    }),
    /interfaces\[0\]\.pciAddress: Duplicate value/,
  ],
  [
    'a turn in booting is given once',
    devices({ disks: [{ name: 'root', disk: {}, bootOrder: 1 }], interfaces: [{ name: 'default', masquerade: {}, bootOrder: 1 }] }),
    /interfaces\[0\]\.bootOrder: Duplicate value/,
  ],
  ['a card has ranges of ports', card({ masquerade: {}, portRanges: [{ start: 8000, end: 8100 }] }), ''],
  ['a range ends behind its start', card({ masquerade: {}, portRanges: [{ start: 9, end: 8 }] }), /portRanges\[0\]\.end: .*first port, 9/],
  ['ranges are bounded', card({ masquerade: {}, portRanges: [{ start: 1, end: 65535 }] }), /portRanges: .*more than 512 ports/],
  [
    'ports are bounded, with those in ranges',
    card({ masquerade: {}, ports: manyPorts(500), portRanges: [{ start: 9_000, end: 9_020 }] }),
    /portRanges: Invalid value: 521: have more than 512 ports/,
  ],
  ['there may be as many', card({ masquerade: {}, ports: manyPorts(512) }), ''],
  ['ports one by one are bounded', card({ masquerade: {}, ports: manyPorts(513) }), /ports: Invalid value: 513: have more than 512 ports/],
  ['a plugged cable is plugged', card({ masquerade: {}, state: 'up' }), ''],
  ['a cable cannot be out', card({ masquerade: {}, state: 'down' }), /interfaces\[0\]\.state: /],
  [
    'a kernel comes in an image',
    firmware({ kernelBoot: { kernelArgs: 'quiet', container: { image: 'x', kernelPath: '/k', initrdPath: '/i' } } }),
    '',
  ],
  ['a kernel has a path', firmware({ kernelBoot: { container: { image: 'x' } } }), /kernelBoot\.container\.kernelPath: Required/],
  [
    'a kernel is in its image',
    firmware({ kernelBoot: { container: { image: 'x', kernelPath: '/../k' } } }),
    /kernelPath: .*without \. and \.\./,
  ],
  ['arguments are for a kernel', firmware({ kernelBoot: { kernelArgs: 'quiet' } }), /kernelBoot\.container: Required/],
  [
    'the image of a kernel has its name for itself',
    {
      ...firmware({ kernelBoot: { container: { image: 'x', kernelPath: '/k' } } }),
      ...more({ name: 'kernel-boot-volume', emptyDisk: { capacity: '1Mi' } }),
    },
    /volumes\[1\]\.name: .*image of the kernel/,
  ],
  ['firmware can be seen', firmware({ bootloader: { bios: { useSerial: true } } }), ''],
  [
    'firmware needs a console to be seen on',
    { domain: { firmware: { bootloader: { bios: { useSerial: true } } }, devices: { autoattachSerialConsole: false } } },
    /useSerial: .*autoattachSerialConsole/,
  ],
  ['sockets have a bound', cpu({ sockets: 4, maxSockets: 2 }), /domain\.cpu\.sockets: .*maxSockets, 2/],
  ['memory has a bound', domain({ memory: { guest: '2Gi', maxGuest: '1Gi' } }), /memory\.guest: .*maxGuest, 1Gi/],
  ['bounds that are kept are fine', domain({ memory: { guest: '1Gi', maxGuest: '4Gi' }, cpu: { sockets: 1, maxSockets: 4 } }), ''],
  [
    'overhead is an amount',
    domain({ memory: { reservedOverhead: { addedOverhead: '-1Mi' } } }),
    /addedOverhead: .*greater than or equal to 0/,
  ],
  [
    'block sizes are given or matched',
    disk({ disk: {}, blockSize: { custom: { logical: 512, physical: 512 }, matchVolume: {} } }),
    /blockSize: .*only one of custom and matchVolume/,
  ],
  ['block sizes can be matched', disk({ disk: {}, blockSize: { matchVolume: { enabled: true } } }), ''],
  ['missed ticks of the HPET come late', domain({ clock: { timer: { hpet: { tickPolicy: 'delay' } } } }), ''],
  ['missed ticks of the HPET are not made up for', domain({ clock: { timer: { hpet: { tickPolicy: 'catchup' } } } }), /tickPolicy: /],

  ['some memory is required', domain({ resources: null }), /^spec\.domain\.memory\.guest: Required value/],
  ['memory is a quantity', resources({ memory: 'much' }), /^spec\.domain\.resources\.requests\.memory: .*should match/],
  ['memory is not negative', resources({ memory: '-64M' }), /requests\.memory: .*greater than or equal to 0/],
  ['a memory request is 1M or more', resources({ memory: '10k' }), /requests\.memory: .*1M or more/],
  ['a memory request is within the limit', resources({ memory: '64M' }, { memory: '32M' }), /requests\.memory: .*memory limit, 32M/],
  [
    'the guest is within the memory limit',
    domain({ memory: { guest: '1Gi' }, resources: { limits: { memory: '512Mi' } } }),
    /^spec\.domain\.memory\.guest: .*memory limit, 512Mi/,
  ],
  ['a guest has no more memory than a board takes', domain({ memory: { guest: '5Ti' } }), /memory\.guest: .*between 1Mi and 4Ti/],

  ['a Pod may ask for more memory than there is', resources({ memory: '1Ei' }), ''],
  ['a Pod may ask for more cpu than there is', resources({ memory: '64M', cpu: '1M' }), ''],

  ['a resource has a name', resources({ memory: '64M', 'a b': 1 }), /resources\.requests: .*"a b"/],
  ['an amount of anything is not negative', resources({ memory: '64M', 'example.com/gpu': -1 }), /requests\[example\.com\/gpu\]: /],

  ['cpu is not negative', resources({ cpu: '-1' }), /requests\.cpu: .*greater than or equal to 0/],
  ['a cpu request is within the limit', resources({ cpu: 4 }, { cpu: 2 }), /requests\.cpu: .*cpu limit, 2/],
  ['there are at most 255 processors', cpu({ cores: 16, sockets: 16 }), /^spec\.domain\.cpu: .*255/],
  ['a cpu model is a name', cpu({ model: 'a,b' }), /cpu\.model: /],
  ['a feature policy is known', cpu({ features: [{ name: 'x', policy: 'perhaps' }] }), /features\[0\]\.policy: /],
  ['a cpu feature is a name', cpu({ features: [{ name: 'a,b=c' }] }), /features\[0\]\.name: /],

  ['machine.type fits the architecture', domain({ machine: { type: 'pc-i440fx-7.2' } }), /machine\.type: .*q35\*/],
  ['an empty machine.type is the default', domain({ machine: { type: '' } }), ''],
  ['a versioned q35 is fine', domain({ machine: { type: 'pc-q35-7.2' } }), ''],
  ['the architecture is known', { architecture: 'vax' }, /^spec\.architecture: Unsupported value: "vax"/],

  ['texts about the chassis are printable', domain({ chassis: { sku: 'a\nb' } }), /chassis\.sku: .*printable/],
  ['a PC has a clock', domain({ clock: { timer: { rtc: { present: false } } } }), /rtc\.present: /],
  ['a clock ahead of UTC is fine', domain({ clock: { utc: { offsetSeconds: 3600 } } }), ''],
  ['a clock in a time zone is fine', domain({ clock: { timezone: 'America/New_York' } }), ''],
  ['a time zone exists', domain({ clock: { timezone: 'Europe/Atlantis' } }), /clock\.timezone: .*Europe\/Berlin/],
  ['a clock shows one time', domain({ clock: { utc: {}, timezone: 'UTC' } }), /domain\.clock: .*only one of/],
  ['a Hyper-V vendor id is short', domain({ features: { hyperv: { vendorid: { vendorid: 'ä' } } } }), /vendorid\.vendorid: /],

  ['firmware.uuid is a UUID', firmware({ uuid: 'me' }), /firmware\.uuid: /],
  ['firmware.serial is printable', firmware({ serial: 'a\nb' }), /firmware\.serial: /],

  ['disk names are unique', devices({ disks: [{ name: 'root' }, { name: 'root' }] }), /disks\[1\]: Duplicate value: \{"name":"root"\}/],
  ['a disk has a volume', disk({ name: 'data' }), /disks\[0\]\.name: Invalid value: "data": there is no volume of this name$/],
  ['a near miss is pointed out', disk({ name: 'disk0', volumeName: 'rooot' }), /disks\[0\]\.volumeName: .*did you mean "root"\?$/],
  ['volumeName links a disk to a volume of another name', disk({ name: 'disk0', volumeName: 'root' }), ''],
  [
    'two disks cannot show one volume',
    devices({ disks: [{ name: 'root' }, { name: 'b', volumeName: 'root' }] }),
    /disks\[1\]\.volumeName: .*same volume/,
  ],
  ['a disk has one target', disk({ disk: {}, cdrom: {} }), /disks\[0\]: .*only one of/],
  ['a CD-ROM is not virtio', disk({ cdrom: { bus: 'virtio' } }), /cdrom\.bus: /],
  ['a SATA disk is not read-only', disk({ disk: { readonly: true } }), /disk\.readonly: /],
  ['a virtio disk may be read-only', disk({ disk: { bus: 'virtio', readonly: true } }), ''],
  ['a disk bus is known', disk({ disk: { bus: 'ide' } }), /disk\.bus: Unsupported value: "ide"/],
  ['only virtio disks have a thread of their own', disk({ disk: { bus: 'sata' }, dedicatedIOThread: true }), /dedicatedIOThread: /],
  ['a disk serial has few characters', disk({ serial: 'a b' }), /disks\[0\]\.serial: /],
  ['cache is known', disk({ cache: 'unsafe' }), /cache: Unsupported/],
  ['io is known', disk({ io: 'uring' }), /io: Unsupported/],
  ['errorPolicy is known', disk({ errorPolicy: 'panic' }), /errorPolicy: Unsupported/],
  ['a block size is a power of two', disk({ blockSize: { custom: { logical: 1000, physical: 4096 } } }), /custom\.logical: .*power of two/],
  ['a logical block fits a physical one', disk({ blockSize: { custom: { logical: 4096, physical: 512 } } }), /at most the physical/],

  [
    'a discard granularity is a multiple of the logical size',
    disk({ blockSize: { custom: { logical: 4096, physical: 4096, discardGranularity: 512 } } }),
    /discardGranularity: .*multiple/,
  ],
  ['native I/O needs a disk without a cache', disk({ io: 'native', cache: 'writeback' }), /disks\[0\]\.io: .*cache none/],
  ['a shareable disk is that of a PVC', disk({ shareable: true }), /disks\[0\]\.shareable: .*PVC or DataVolume/],
  ['a shareable disk has no cache', disk({ shareable: true, cache: 'writeback' }), /disks\[0\]\.cache: .*cache none/],
  ['native I/O without a cache is fine', disk({ io: 'native', cache: 'none' }), ''],
  ['a board has 30 slots', devicesOf(40, 'virtio'), /^spec\.domain\.devices: .*30 slots.*scsi/],
  ['disks on scsi share a slot', devicesOf(200, 'scsi'), ''],
  ['usb takes 15 disks', devicesOf(16, 'usb'), /devices\.disks: .*at most 15/],
  ['sata takes 60 disks', devicesOf(61, 'sata'), /devices\.disks: .*at most 60/],

  ['bootOrder is positive', disk({ bootOrder: 0 }), /disks\[0\]\.bootOrder: .*greater than or equal to 1/],
  [
    'bootOrder is unique',
    {
      ...devices({
        disks: [
          { name: 'root', bootOrder: 1 },
          { name: 'b', bootOrder: 1 },
        ],
      }),
      ...more({ name: 'b', emptyDisk: { capacity: '1Gi' } }),
    },
    /disks\[1\]\.bootOrder: Duplicate/,
  ],

  ['volume names are unique', more({ name: 'root', emptyDisk: { capacity: '1Gi' } }), /volumes\[1\]: Duplicate value/],
  ['a volume has a source', volume({}), /volumes\[0\]: Required value/],
  ['a volume has one source', volume({ containerDisk: { image: 'x' }, emptyDisk: { capacity: '1Gi' } }), /volumes\[0\]: .*only one source/],
  ['memory is dumped to a volume without a disk', more({ name: 'dump', memoryDump: { claimName: 'dump', hotpluggable: true } }), ''],
  ['a volume that memory is dumped to is no disk', volume({ memoryDump: { claimName: 'dump' } }), /disks\[0\]\.name: .*it is no disk/],
  [
    'memory is dumped to a PVC with the name of an object',
    more({ name: 'dump', memoryDump: { claimName: '../x' } }),
    /claimName: .*RFC 1123/,
  ],
  [
    'memory is dumped to one volume',
    more({ name: 'a', memoryDump: { claimName: 'a' } }, { name: 'b', memoryDump: { claimName: 'b' } }),
    /volumes\[2\]\.memoryDump: .*at most one/,
  ],
  ['the old spelling of a source counts', volume({ registryDisk: { image: 'x' } }), ''],
  ['a volume name is a DNS label', more({ name: 'a/../b', emptyDisk: { capacity: '1Gi' } }), /volumes\[1\]\.name: .*RFC 1123/],
  ['a volume has a name', more({ name: '', emptyDisk: { capacity: '1Gi' } }), /volumes\[1\]\.name: /],
  ['a volume name is short', more({ name: 'x'.repeat(64), emptyDisk: { capacity: '1Gi' } }), /volumes\[1\]\.name: /],
  ['a claim has the name of an object', volume({ persistentVolumeClaim: { claimName: '../x' } }), /claimName: .*RFC 1123/],
  ['a Secret has the name of an object', volume({ cloudInitNoCloud: { secretRef: { name: '../x' } } }), /secretRef\.name: .*RFC 1123/],
  ['a path in an image stays in it', volume({ containerDisk: { image: 'x', path: '/disk/../../x' } }), /containerDisk\.path: /],
  ['a path in an image is absolute', volume({ registryDisk: { image: 'x', path: 'disk.img' } }), /registryDisk\.path: /],
  [
    'an image has no line end in its name',
    volume({ containerDisk: { image: 'quay.io/a/b:1\nx' } }),
    /containerDisk\.image: Invalid value: .*name of a container image/,
  ],
  ['an image has no NUL in its name', volume({ containerDisk: { image: 'quay.io/a\0b' } }), /containerDisk\.image: /],
  ['the name of an image leads nowhere else', volume({ containerDisk: { image: 'quay.io/../../etc/passwd' } }), /containerDisk\.image: /],
  ['the name of an image has an end', volume({ containerDisk: { image: 'a'.repeat(600) } }), /containerDisk\.image: /],
  ['an image by its old name is checked, too', volume({ registryDisk: { image: '../x' } }), /Disk\.image: /],
  ['an image by its digest is fine', volume({ containerDisk: { image: `quay.io/a/b@sha256:${'a'.repeat(64)}` } }), ''],
  ['a path in an image is fine', volume({ containerDisk: { image: 'x', path: '/disk/root.img' } }), ''],
  ['a LUN is on a PVC', disk({ disk: null, lun: {} }), /disks\[0\]\.lun: .*only a PVC or DataVolume/],
  ['a LUN of a PVC is fine', { ...disk({ lun: { bus: 'scsi' } }), ...volume({ persistentVolumeClaim: { claimName: 'x' } }) }, ''],
  [
    'a LUN is not hotplugged',
    { ...disk({ lun: {} }), ...volume({ persistentVolumeClaim: { claimName: 'x', hotpluggable: true } }) },
    /disks\[0\]\.lun: .*passes no SCSI commands on/,
  ],
  [
    'a LUN has its own serial number',
    { ...disk({ lun: {}, serial: 'A', cache: 'writethrough' }), ...volume({ persistentVolumeClaim: { claimName: 'x' } }) },
    /disks\[0\]\.serial: .*that of its device/,
  ],
  [
    'a LUN is on SCSI',
    { ...disk({ lun: { bus: 'virtio' } }), ...volume({ persistentVolumeClaim: { claimName: 'x' } }) },
    /disks\[0\]\.lun\.bus: Unsupported/,
  ],
  ['an empty disk is not larger than a file', volume({ emptyDisk: { capacity: '100E' } }), /emptyDisk\.capacity: .*64Ti/],
  ['an empty disk has a size', volume({ emptyDisk: { capacity: '0' } }), /emptyDisk\.capacity: /],
  ['a claim volume names a claim', volume({ persistentVolumeClaim: {} }), /claimName: Required/],
  ['a DataVolume is the claim of its name', volume({ dataVolume: { name: 'x' } }), ''],
  ['a DataVolume has a name', volume({ dataVolume: {} }), /dataVolume\.name: Required/],
  ['a DataVolume has the name of an object', volume({ dataVolume: { name: '../x' } }), /dataVolume\.name: .*RFC 1123/],
  ['an ephemeral volume names a claim', volume({ ephemeral: {} }), /ephemeral\.persistentVolumeClaim\.claimName: Required/],

  ['a ConfigMap is fine', volume({ configMap: { name: 'c', optional: true, volumeLabel: 'my-label' } }), ''],
  ['a ConfigMap is named', volume({ configMap: {} }), /configMap\.name: Required/],
  ['a ConfigMap has the name of an object', volume({ configMap: { name: '../x' } }), /configMap\.name: .*RFC 1123/],
  ['the label of a disk is short', volume({ secret: { secretName: 's', volumeLabel: 'x'.repeat(33) } }), /secret\.volumeLabel: .*32/],
  ['a Secret is named', volume({ secret: {} }), /secret\.secretName: Required/],
  ['answer files come from somewhere', volume({ sysprep: {} }), /sysprep: Required/],
  ['answer files come from one object', volume({ sysprep: { configMap: { name: 'a' }, secret: { name: 'b' } } }), /sysprep: .*only one of/],
  ['answer files of a Secret are fine', volume({ sysprep: { secret: { name: 'b' } } }), ''],
  ['a field of the Pod is fine', volume({ downwardAPI: { fields: [{ path: 'a', fieldRef: { fieldPath: 'metadata.labels' } }] } }), ''],
  [
    'a field of the Pod is one that the kubelet shows',
    volume({ downwardAPI: { fields: [{ path: 'a', fieldRef: { fieldPath: 'spec.nodeName' } }] } }),
    /fields\[0\]\.fieldRef\.fieldPath: .*metadata\.name/,
  ],
  [
    'a file of the downward API stays in its folder',
    volume({ downwardAPI: { fields: [{ path: '../a', fieldRef: { fieldPath: 'metadata.name' } }] } }),
    /fields\[0\]\.path: .*relative/,
  ],
  [
    'a file of the downward API shows a field',
    volume({ downwardAPI: { fields: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] } }),
    /fields\[0\]\.fieldRef: Required/,
  ],

  ['cloud-init has some data', volume({ cloudInitNoCloud: {} }), /cloudInitNoCloud: Required/],
  [
    'cloud-init has one source of user data',
    volume({ cloudInitNoCloud: { userData: 'a', userDataBase64: 'YQ==' } }),
    /cloudInitNoCloud: .*only one of userData/,
  ],
  [
    'cloud-init has one source of network data',
    volume({ cloudInitNoCloud: { userData: 'a', networkData: 'a', networkDataBase64: 'YQ==' } }),
    /only one of networkData/,
  ],
  [
    'a Secret is a source of network data like the others',
    volume({ cloudInitNoCloud: { networkData: 'a', networkDataSecretRef: { name: 's' } } }),
    /only one of networkData/,
  ],
  ['network data of a Secret is fine alone', volume({ cloudInitNoCloud: { networkDataSecretRef: { name: 's' } } }), ''],
  [
    'a Secret with network data has the name of an object',
    volume({ cloudInitNoCloud: { networkDataSecretRef: { name: '../x' } } }),
    /networkDataSecretRef\.name: .*RFC 1123/,
  ],
  ['a config drive has data', volume({ cloudInitConfigDrive: {} }), /cloudInitConfigDrive: Required/],
  ['a config drive has data of cloud-init', volume({ cloudInitConfigDrive: { userData: 'a', networkData: 'b' } }), ''],
  ['inline data of a config drive is short', volume({ cloudInitConfigDrive: { userData: 'x'.repeat(2049) } }), /userData: Too long/],
  ['inline user data is short', volume({ cloudInitNoCloud: { userData: 'x'.repeat(2049) } }), /userData: Too long.*Secret/],
  ['2048 bytes of user data are fine', volume({ cloudInitNoCloud: { userData: 'x'.repeat(2048) } }), ''],
  ['inline network data is short', volume({ cloudInitNoCloud: { networkData: 'ü'.repeat(1025) } }), /networkData: Too long/],
  [
    'encoded user data is short when decoded',
    volume({ cloudInitNoCloud: { userDataBase64: Buffer.alloc(2049).toString('base64') } }),
    /userDataBase64: Too long/,
  ],
  ['encoded data is base64', volume({ cloudInitNoCloud: { userDataBase64: 'no!' } }), /userDataBase64: .*base64/],

  [
    'network names are unique',
    {
      networks: [
        { name: 'default', pod: {} },
        { name: 'default', pod: {} },
      ],
    },
    /networks\[1\]: Duplicate value/,
  ],
  [
    'a network has an interface',
    {
      networks: [
        { name: 'default', pod: {} },
        { name: 'b', pod: {} },
      ],
    },
    /networks\[1\]\.name: .*no interface/,
  ],
  ['a network has a source', { networks: [{ name: 'default' }] }, /networks\[0\]: Required/],
  [
    'there is one Pod network',
    {
      networks: [
        { name: 'default', pod: {} },
        { name: 'b', pod: {} },
      ],
      ...devices({
        interfaces: [
          { name: 'default', masquerade: {} },
          { name: 'b', masquerade: {} },
        ],
      }),
    },
    /^spec\.networks: .*one Pod network/,
  ],
  ['vmNetworkCIDR is an IPv4 network', { networks: [{ name: 'default', pod: { vmNetworkCIDR: '10.0.2.0/33' } }] }, /vmNetworkCIDR: /],

  ['an interface has a network', { networks: null }, /interfaces\[0\]\.name: .*no network/],
  ['interface names have few characters', devices({ interfaces: [{ name: 'a.b', masquerade: {} }] }), /interfaces\[0\]\.name: .*letters/],
  [
    'interface names are unique',
    devices({
      interfaces: [
        { name: 'default', masquerade: {} },
        { name: 'default', masquerade: {} },
      ],
    }),
    /interfaces\[1\]: Duplicate value/,
  ],
  ['an interface has a binding', card({}), /interfaces\[0\]: Required/],
  ['an interface has one binding', card({ bridge: {}, masquerade: {} }), /interfaces\[0\]: .*only one way/],
  ['masquerade is for the Pod network', { networks: [{ name: 'default', multus: { networkName: 'x' } }] }, /masquerade: .*Pod network/],
  ['bridge on the Pod network is permitted', card({ bridge: {} }), ''],
  ['a MAC address is one', card({ masquerade: {}, macAddress: '02:11' }), /macAddress: .*unicast/],
  ['a MAC address is not a group', card({ masquerade: {}, macAddress: '01:11:22:33:44:55' }), /macAddress: .*unicast/],
  ['the MAC address of the bridge is reserved', card({ masquerade: {}, macAddress: '02:00:00:00:00:00' }), /macAddress: .*reserved/],
  ['a model is known', card({ masquerade: {}, model: 'ne1000' }), /model: Unsupported/],
  ['a port is between 1 and 65535', card({ masquerade: {}, ports: [{ port: 0 }] }), /ports\[0\]\.port: /],
  ['a port is TCP or UDP', card({ masquerade: {}, ports: [{ port: 80, protocol: 'SCTP' }] }), /ports\[0\]\.protocol: /],
  [
    'port names are unique',
    card({
      masquerade: {},
      ports: [
        { name: 'a', port: 80 },
        { name: 'a', port: 81 },
      ],
    }),
    /ports\[1\]\.name: Duplicate/,
  ],
  ['a port name fits a Service', card({ masquerade: {}, ports: [{ name: 'Not A Name', port: 80 }] }), /ports\[0\]\.name: /],

  ['a probe has a handler', { readinessProbe: {} }, /^spec\.readinessProbe: Required/],
  ['a probe has one handler', { livenessProbe: { exec: {}, guestAgentPing: {} } }, /^spec\.livenessProbe: .*only one handler/],
  [
    'a network probe needs the Pod network',
    { readinessProbe: { tcpSocket: { port: 1 } }, networks: null, ...devices({ interfaces: null, autoattachPodInterface: false }) },
    /readinessProbe\.tcpSocket: .*Pod network/,
  ],
  ['a network probe names its port', { readinessProbe: { httpGet: {} } }, /^spec\.readinessProbe\.httpGet\.port: Required/],
  [
    'a network probe names its port by number',
    { livenessProbe: { httpGet: { port: 'http' } } },
    /^spec\.livenessProbe\.httpGet\.port: .*names of ports/,
  ],
  [
    'a network probe names a port that exists',
    { livenessProbe: { httpGet: { port: 65_536 } } },
    /^spec\.livenessProbe\.httpGet\.port: .*65535/,
  ],
  [
    'a port probe asks the guest and nobody else',
    { readinessProbe: { tcpSocket: { port: 1, host: 'x' } } },
    /tcpSocket\.host: .*no other host/,
  ],
  [
    'a page probe asks the guest and nobody else',
    { livenessProbe: { httpGet: { port: 80, host: '169.254.169.254' } } },
    /^spec\.livenessProbe\.httpGet\.host: .*no other host/,
  ],
  ['a program probe has a program', { readinessProbe: { exec: {} } }, /^spec\.readinessProbe\.exec\.command: Required/],
  [
    'a program probe has a program of words',
    { readinessProbe: { exec: { command: ['a\0b'] } } },
    /^spec\.readinessProbe\.exec\.command: .*words/,
  ],
  [
    'a liveness probe succeeds with one yes',
    { livenessProbe: { guestAgentPing: {}, successThreshold: 2 } },
    /^spec\.livenessProbe\.successThreshold: .*must be 1/,
  ],
  [
    'a guest that starts paused has no liveness probe',
    { startStrategy: 'Paused', livenessProbe: { guestAgentPing: {} } },
    /^spec\.startStrategy: /,
  ],
  ['a start strategy is known', { startStrategy: 'Slowly' }, /^spec\.startStrategy: Unsupported/],
  ['an eviction strategy is known', { evictionStrategy: 'Never' }, /^spec\.evictionStrategy: Unsupported/],

  ['a key has a kind', credential({}), /accessCredentials\[0\]: Required/],
  [
    'a credential has one kind',
    credential({ sshPublicKey: { ...key, ...BY_AGENT }, userPassword: { ...key, ...BY_AGENT } }),
    /accessCredentials\[0\]: .*only one/,
  ],
  ['a credential has a source', credential({ userPassword: { source: {}, ...BY_AGENT } }), /secretName: Required/],
  ['a credential has one way', credential({ sshPublicKey: { ...key, propagationMethod: {} } }), /propagationMethod: .*exactly one of/],
  ['noCloud needs such a volume', credential({ sshPublicKey: { ...key, propagationMethod: { noCloud: {} } } }), /noCloud: .*volume/],
  [
    'configDrive needs such a volume',
    {
      ...credential({ sshPublicKey: { ...key, propagationMethod: { configDrive: {} } } }),
      ...more({ name: 'c', cloudInitNoCloud: { userData: 'a' } }),
    },
    /configDrive: .*needs a cloudInitConfigDrive volume/,
  ],
  [
    'a key by a config drive is fine',
    {
      ...credential({ sshPublicKey: { ...key, propagationMethod: { configDrive: {} } } }),
      ...more({ name: 'c', cloudInitConfigDrive: { userData: 'a' } }),
    },
    '',
  ],
  [
    'a credential has one way, of three',
    credential({ sshPublicKey: { ...key, propagationMethod: { configDrive: {}, noCloud: {} } } }),
    /propagationMethod: .*exactly one of configDrive, noCloud, qemuGuestAgent/,
  ],
  [
    'a key for the agent has users',
    credential({ sshPublicKey: { ...key, propagationMethod: { qemuGuestAgent: { users: [] } } } }),
    /users: Required.*the users who get/,
  ],

  ['a node label has a valid key', { nodeSelector: { 'a/b/c': 'x' } }, /^spec\.nodeSelector: /],
  ['a node label has a valid value', { nodeSelector: { a: 'x y' } }, /^spec\.nodeSelector\[a\]: /],
  ['a service account has the name of an object', { serviceAccountName: 'A B' }, /^spec\.serviceAccountName: .*RFC 1123/],
  ['a service account is fine', { serviceAccountName: 'builder' }, ''],
  ['a DNS policy is known', { dnsPolicy: 'Mine' }, /^spec\.dnsPolicy: Unsupported/],
  ['without a DNS policy there is a name server', { dnsPolicy: 'None' }, /^spec\.dnsConfig\.nameservers: Required/],
  ['a name server is an address', { dnsConfig: { nameservers: ['dns.example'] } }, /dnsConfig\.nameservers\[0\]: .*IP address/],
  ['a Pod has three name servers', { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } }, /nameservers: Too many/],
  ['a search domain is one', { dnsConfig: { searches: ['a b'] } }, /dnsConfig\.searches\[0\]: /],
  ['a DNS configuration has known fields', { dnsConfig: { servers: [] } }, /dnsConfig\.servers: Unsupported/],
  ['a DNS configuration has lists', { dnsConfig: { searches: 'x' } }, /dnsConfig\.searches: .*list/],
  [
    'a resolver of its own is fine',
    { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'], searches: ['example.com'], options: [{ name: 'ndots', value: '2' }] } },
    '',
  ],
  [
    'a spread has a topology',
    { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
    /topologySpreadConstraints\[0\]\.topologyKey: Required/,
  ],
  [
    'a spread says what else happens',
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone' }] },
    /topologySpreadConstraints\[0\]\.whenUnsatisfiable: Unsupported/,
  ],
  [
    'a spread allows some skew',
    { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }] },
    /topologySpreadConstraints\[0\]\.maxSkew: /,
  ],
  [
    'a spread is fine',
    { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} }] },
    '',
  ],
  ['a Secret for a registry is fine', volume({ containerDisk: { image: 'x', imagePullSecret: 'login' } }), ''],
  [
    'a Secret for a registry has the name of an object',
    volume({ containerDisk: { image: 'x', imagePullSecret: 'A B' } }),
    /imagePullSecret: /,
  ],
  ['a toleration has a known operator', { tolerations: [{ operator: 'Near' }] }, /tolerations\[0\]\.operator: Unsupported/],
  ['a toleration of everything says Exists', { tolerations: [{}] }, /tolerations\[0\]\.operator: /],
  ['a toleration that Exists has no value', { tolerations: [{ operator: 'Exists', value: 'x' }] }, /tolerations\[0\]\.value: /],
  ['a toleration has a known effect', { tolerations: [{ operator: 'Exists', effect: 'Shun' }] }, /tolerations\[0\]\.effect: /],
  ['an affinity is of a known kind', { affinity: { vmAffinity: {} } }, /^spec\.affinity: Unsupported/],
  ['an affinity is an object', { affinity: { nodeAffinity: 'x' } }, /affinity\.nodeAffinity: /],
  ['an affinity says when it counts', { affinity: { nodeAffinity: { always: [] } } }, /affinity\.nodeAffinity: Unsupported/],
  ['a required node affinity has a term', nodeAffinity({ nodeSelectorTerms: [] }), /nodeSelectorTerms: Required/],
  ['a node is chosen by a known operator', nodeTerm({ key: 'a', operator: 'Like' }), /matchExpressions\[0\]\.operator: Unsupported/],
  ['a node rule has a key', nodeTerm({ operator: 'Exists' }), /matchExpressions\[0\]\.key: Required/],
  ['In takes values', nodeTerm({ key: 'a', operator: 'In' }), /matchExpressions\[0\]\.values: Required/],
  ['Exists takes no values', nodeTerm({ key: 'a', operator: 'Exists', values: ['b'] }), /matchExpressions\[0\]\.values: Invalid/],
  ['Gt takes one whole number', nodeTerm({ key: 'a', operator: 'Gt', values: ['many'] }), /matchExpressions\[0\]\.values: Required/],
  ['a node affinity that is right is taken', nodeTerm({ key: 'a', operator: 'Lt', values: ['7'] }), ''],
  [
    'a node has one field to choose it by',
    nodeAffinity({ nodeSelectorTerms: [{ matchFields: [{ key: 'spec.x', operator: 'In', values: ['n'] }] }] }),
    /matchFields\[0\]\.key: Unsupported/,
  ],
  [
    'a preference has a weight from 1 to 100',
    { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }] } } },
    /\[0\]\.weight: Invalid/,
  ],
  [
    'a Pod affinity has a topology',
    { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }] } } },
    /\[0\]\.topologyKey: Required/,
  ],
  ['a grace period can be counted', { terminationGracePeriodSeconds: 2 ** 53 }, /terminationGracePeriodSeconds: /],
  ['a grace period is not negative', { terminationGracePeriodSeconds: -1 }, /terminationGracePeriodSeconds: /],

  ['an input is on a known bus', devices({ inputs: [{ bus: 'ps2' }] }), /inputs\[0\]\.bus: Unsupported/],
  ['an input is a tablet', devices({ inputs: [{ type: 'mouse' }] }), /inputs\[0\]\.type: Unsupported/],
  ['a sound card has a name', devices({ sound: {} }), /sound\.name: Required/],
  ['a sound card has a known model', devices({ sound: { name: 'a', model: 'sb16' } }), /sound\.model: Unsupported/],
  ['video needs a graphics device', devices({ video: { type: 'vga' }, autoattachGraphicsDevice: false }), /devices\.video: /],
  ['a panic device has a model', devices({ panicDevices: [{}] }), /panicDevices\[0\]\.model: Required/],
  ['an I/O thread policy is known', domain({ ioThreadsPolicy: 'many' }), /ioThreadsPolicy: Unsupported/],
];

describe('a VirtualMachine is taken or refused', () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
  });
  after(() => world.close());

  for (const [rule, patch, answer] of RULES) {
    test(rule, async () => {
      const spec = { runStrategy: 'Halted', template: { spec: mergePatch(GOOD, patch) } };
      const vm = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'x', namespace: 'default' }, spec };
      const { status, body } = await world.send('POST', '/apis/kubevirt.io/v1/namespaces/default/virtualmachines?dryRun=All', vm);
      const causes = (body.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`.replace('spec.template.', ''));
      if (answer === '') assert.deepEqual([status, causes], [201, []]);
      else
        assert.ok(
          causes.some((cause) => answer.test(cause)),
          `${answer} not in ${JSON.stringify(causes)}`,
        );
    });
  }
});

const CLAIM = { name: 'data', persistentVolumeClaim: { claimName: 'c' } };
const folder = (name: string) => devices({ filesystems: [{ name, virtiofs: {} }] });
const FOLDER_RULES: readonly [rule: string, patch: JsonObject, answer: RegExp | undefined][] = [
  ['the folder of a PVC is fine', { ...folder('data'), ...more(CLAIM) }, undefined],
  ['a folder has a volume', folder('data'), /filesystems\[0\]\.name: .*there is no volume/],
  [
    'a folder is that of a PVC',
    { ...folder('data'), ...more({ name: 'data', emptyDisk: { capacity: '1Gi' } }) },
    /only the folders of PVCs/,
  ],
  ['a guest has room for a short name only', { ...folder('x'.repeat(37)), ...more({ ...CLAIM, name: 'x'.repeat(37) }) }, /at most 36/],
  [
    'a volume is a disk or a folder',
    { ...devices({ filesystems: [{ name: 'data', virtiofs: {} }], disks: [{ name: 'data', disk: {} }] }), ...more(CLAIM) },
    /a disk shows the same volume/,
  ],
];

const HOST_RULES: readonly [rule: string, hostDisk: JsonObject, answer: RegExp | ''][] = [
  ['a file in a folder that was named', { path: '/srv/disks/a.img', type: 'Disk' }, ''],
  ['a file that is to be made has a size', { path: '/srv/disks/a.img', type: 'DiskOrCreate' }, /hostDisk\.capacity: Required/],
  ['a file that is to be made', { path: '/srv/disks/a.img', type: 'DiskOrCreate', capacity: '1Gi' }, ''],
  ['a file of more than 64Ti', { path: '/srv/disks/a.img', type: 'DiskOrCreate', capacity: '65Ti' }, /hostDisk\.capacity: .*at most 64Ti/],
  ['a file below such a folder', { path: '/srv/disks/b/a.img', type: 'Disk' }, /hostDisk\.path: .*one of the folders .*: \/srv\/disks$/],
  ...['/etc/shadow', '/dev/sda', '/proc/1/mem', '/srv/disks2/a.img', '/srv/disks-/a.img'].map(
    (path) => [path, { path, type: 'Disk' }, /hostDisk\.path: .*one of the folders/] as [string, JsonObject, RegExp],
  ),
  ...[
    'srv/disks/a.img',
    '/srv/disks/../a.img',
    '/srv/disks/./a.img',
    '/srv/disks//a.img',
    '/srv/disks/',
    '/srv/disks/..',
    '/a\n/b',
    '/srv/disks/a\0',
  ].map(
    (path) => [JSON.stringify(path), { path, type: 'Disk' }, /hostDisk\.path: .*must be the absolute path/] as [string, JsonObject, RegExp],
  ),
];
describe('files of the node', () => {
  const developerConfiguration = { featureGates: ['HostDisk'], hostDiskFolders: [{ path: '/srv/disks' }] };
  const said = (hostDisk: JsonObject, configuration = clusterConfigurationOf({ developerConfiguration })) =>
    validateVmiSpec(mergePatch(GOOD, { volumes: [{ name: 'root', hostDisk }] }) as JsonObject, 'spec', configuration).map(
      ({ field, message }) => `${field}: ${message}`,
    );

  for (const [rule, hostDisk, answer] of HOST_RULES)
    test(rule, () => (answer ? assert.match(said(hostDisk).join('\n'), answer) : assert.deepEqual(said(hostDisk), [])));

  test('are refused without the gate, and with it where no folder was named', () => {
    const disk = { path: '/srv/disks/a.img', type: 'Disk' };
    assert.match(said(disk, clusterConfigurationOf()).join(), /^spec\.volumes\[0\]\.hostDisk: .*feature gate HostDisk is not enabled$/);
    const gate = clusterConfigurationOf({ developerConfiguration: { featureGates: ['HostDisk'] } });
    assert.match(said(disk, gate).join(), /^spec\.volumes\[0\]\.hostDisk\.path: .*there is none$/);
  });
});

describe('shared folders', () => {
  const on = clusterConfigurationOf({ developerConfiguration: { featureGates: ['EnableVirtioFsStorageVolumes'] } });
  const said = (patch: JsonObject, configuration?: typeof on) =>
    validateVmiSpec(mergePatch(GOOD, patch) as JsonObject, 'spec', configuration).map(({ field, message }) => `${field}: ${message}`);

  for (const [rule, patch, answer] of FOLDER_RULES)
    test(rule, () => (answer ? assert.match(said(patch, on).join('\n'), answer) : assert.deepEqual(said(patch, on), [])));

  test('are refused where nobody has switched them on', () => {
    assert.match(
      said({ ...folder('data'), ...more(CLAIM) }).join('\n'),
      /^spec\.domain\.devices\.filesystems: .*EnableVirtioFsStorageVolumes is not enabled$/,
    );
  });
});

describe('validateVmiSpec', () => {
  test('the path of the spec is in front of every field', () => {
    const causes = validateVmiSpec(mergePatch(GOOD, { hostname: '-', domain: { resources: null } }) as JsonObject, 'spec.template.spec');
    assert.deepEqual(
      causes.map(({ field }) => field),
      ['spec.template.spec.hostname', 'spec.template.spec.domain.memory.guest'],
    );
  });

  test('fields that are refused anyway may be of any type', () => {
    for (const value of ['x', 5, null, false, [], [null], {}]) {
      const spec = mergePatch(GOOD, {
        resourceClaims: value,
        utilityVolumes: value,
      }) as JsonObject;
      assert.deepEqual(validateVmiSpec(spec, 'spec'), []);
    }
  });
});
