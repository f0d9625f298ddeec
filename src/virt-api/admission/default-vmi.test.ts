import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { type JsonObject, mergePatch } from '../../base/json.ts';
import { defaultVmi, defaultVmiSpec } from './default-vmi.ts';

const BARE: JsonObject = { domain: { devices: {} } };
const UUID = '11111111-2222-4333-8444-555555555555';

function filled(patch: JsonObject, path: string): unknown {
  const spec = defaultVmiSpec(mergePatch(BARE, patch) as JsonObject, { newUuid: UUID });
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], spec);
}

const domain = (patch: JsonObject) => ({ domain: patch });
const requests = (amounts: JsonObject) => domain({ resources: { requests: amounts } });
const limits = (amounts: JsonObject) => domain({ resources: { limits: amounts } });
const image = (name: string) => ({ volumes: [{ name: 'root', containerDisk: { image: name } }] });
const devices = (patch: JsonObject) => domain({ devices: patch });
const hyperv = (patch: JsonObject) => domain({ features: { hyperv: patch } });
const disks = (...list: JsonObject[]) => domain({ devices: { disks: list } });

/** Every default that an instance is given, by name. */
const RULES: readonly [rule: string, patch: JsonObject, path: string, expected: unknown][] = [
  ['the machine type is q35', {}, 'domain.machine.type', 'q35'],
  ['an empty machine type is q35', domain({ machine: { type: '' } }), 'domain.machine.type', 'q35'],
  ['a machine type that is given stays', domain({ machine: { type: 'pc-q35-7.2' } }), 'domain.machine.type', 'pc-q35-7.2'],
  ['guest memory is what is requested', requests({ memory: '64M' }), 'domain.memory.guest', '64M'],
  ['guest memory is the limit when nothing is requested', limits({ memory: '1Gi' }), 'domain.memory.guest', '1Gi'],
  [
    'guest memory that is given stays',
    domain({ memory: { guest: '2Gi' }, resources: { requests: { memory: '1Gi' } } }),
    'domain.memory.guest',
    '2Gi',
  ],
  ['without anything there is one processor', {}, 'domain.cpu.sockets', 1],
  ['the sockets follow from the limit, rounded up', limits({ cpu: '1500m' }), 'domain.cpu.sockets', 2],
  ['the sockets follow from the request when there is no limit', requests({ cpu: '3' }), 'domain.cpu.sockets', 3],
  ['the sockets do not follow beyond what a guest can have', requests({ cpu: '1M' }), 'domain.cpu.sockets', 255],
  ['guest memory does not follow beyond what a guest can have', requests({ memory: '1Ei' }), 'domain.memory', undefined],
  ['a topology that is begun is not completed', domain({ cpu: { cores: 4 } }), 'domain.cpu.sockets', undefined],
  ['a cpu request is as large as a limit that stands alone', limits({ cpu: '2' }), 'domain.resources.requests.cpu', '2'],
  [
    'a cpu request that is given stays',
    domain({ resources: { limits: { cpu: '2' }, requests: { cpu: '1' } } }),
    'domain.resources.requests.cpu',
    '1',
  ],
  ['a memory request is not made up', limits({ memory: '1Gi' }), 'domain.resources.requests', undefined],
  ['the architecture is amd64', {}, 'architecture', 'amd64'],
  ['ACPI is on', {}, 'domain.features.acpi.enabled', true],
  ['ACPI that is switched off stays off', domain({ features: { acpi: { enabled: false } } }), 'domain.features.acpi.enabled', false],
  ['a feature that is there is on', domain({ features: { smm: {} } }), 'domain.features.smm.enabled', true],
  ['what is hidden of KVM is no feature state', domain({ features: { kvm: { hidden: true } } }), 'domain.features.kvm', { hidden: true }],
  ['spinlocks try 4096 times', hyperv({ spinlocks: {} }), 'domain.features.hyperv.spinlocks', { enabled: true, spinlocks: 4096 }],
  ['synictimer brings synic along', hyperv({ synictimer: {} }), 'domain.features.hyperv.synic.enabled', true],
  ['synic brings vpindex along', hyperv({ synic: {} }), 'domain.features.hyperv.vpindex.enabled', true],
  ['synictimer brings vpindex along', hyperv({ synictimer: {} }), 'domain.features.hyperv.vpindex.enabled', true],
  ['tlbflush brings vpindex along', hyperv({ tlbflush: {} }), 'domain.features.hyperv.vpindex.enabled', true],
  ['ipi brings vpindex along', hyperv({ ipi: {} }), 'domain.features.hyperv.vpindex.enabled', true],
  ['evmcs brings vapic along', hyperv({ evmcs: {} }), 'domain.features.hyperv.vapic.enabled', true],
  ['evmcs brings the processor feature vmx along', hyperv({ evmcs: {} }), 'domain.cpu.features', [{ name: 'vmx', policy: 'require' }]],
  ['a Hyper-V feature that is off needs nothing', hyperv({ synic: { enabled: false } }), 'domain.features.hyperv.vpindex', undefined],
  ['a timer that is there is present', domain({ clock: { timer: { hpet: {} } } }), 'domain.clock.timer.hpet.present', true],
  [
    'a timer that is taken away stays away',
    domain({ clock: { timer: { hpet: { present: false } } } }),
    'domain.clock.timer.hpet.present',
    false,
  ],
  ['a watchdog resets', devices({ watchdog: { name: 'w' } }), 'domain.devices.watchdog.i6300esb.action', 'reset'],
  ['an input is a tablet', devices({ inputs: [{ name: 'a' }] }), 'domain.devices.inputs.0.type', 'tablet'],
  ['an input is on usb', devices({ inputs: [{ name: 'a' }] }), 'domain.devices.inputs.0.bus', 'usb'],
  ['autoattachInputDevice adds an input', devices({ autoattachInputDevice: true }), 'domain.devices.inputs.length', 1],
  ['the tray of a CD-ROM is closed', disks({ name: 'root', cdrom: {} }), 'domain.devices.disks.0.cdrom.tray', 'closed'],
  ['a grace period is not written', {}, 'terminationGracePeriodSeconds', undefined],
  ['the processor model is host-model', {}, 'domain.cpu.model', 'host-model'],
  ['a volume without a disk gets one', image('x:1'), 'domain.devices.disks.0.name', 'root'],
  ['a device without a kind is a disk on sata', disks({ name: 'root' }), 'domain.devices.disks.0.disk.bus', 'sata'],
  ['a bus that is given stays', disks({ name: 'root', disk: { bus: 'virtio' } }), 'domain.devices.disks.0.disk.bus', 'virtio'],
  ['a CD-ROM is read-only', disks({ name: 'root', cdrom: {} }), 'domain.devices.disks.0.cdrom.readonly', true],
  ['an image with a tag is taken if it is there', image('x:1'), 'volumes.0.containerDisk.imagePullPolicy', 'IfNotPresent'],
  ['an image with the tag latest is always asked for', image('x:latest'), 'volumes.0.containerDisk.imagePullPolicy', 'Always'],
  ['an image without a tag is always asked for', image('x'), 'volumes.0.containerDisk.imagePullPolicy', 'Always'],
  ['an image with a digest is taken if it is there', image('x@sha256:1'), 'volumes.0.containerDisk.imagePullPolicy', 'IfNotPresent'],
  [
    'a probe has its times and numbers',
    { readinessProbe: { httpGet: { port: 80 } } },
    'readinessProbe',
    { httpGet: { port: 80 }, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  ],
  [
    'times and numbers of a probe that are given stay',
    { livenessProbe: { httpGet: { port: 80 }, periodSeconds: 2, timeoutSeconds: 0 } },
    'livenessProbe',
    { httpGet: { port: 80 }, timeoutSeconds: 1, periodSeconds: 2, successThreshold: 1, failureThreshold: 3 },
  ],
  ['no card beside one that is listed', { networks: [{ name: 'mine', pod: {} }] }, 'domain.devices.interfaces', undefined],
  ['there is a card on the Pod network', {}, 'networks', [{ name: 'default', pod: {} }]],
  ['the card is behind the address of the Pod', {}, 'domain.devices.interfaces.0.masquerade', {}],
  ['no card when that is switched off', domain({ devices: { autoattachPodInterface: false } }), 'networks', undefined],
  [
    'a registryDisk is a containerDisk',
    { volumes: [{ name: 'root', registryDisk: { image: 'x:1' } }] },
    'volumes.0.containerDisk.image',
    'x:1',
  ],
  ['the machine has an identity', {}, 'domain.firmware.uuid', UUID],
  ['an identity that is given stays', domain({ firmware: { uuid: 'mine' } }), 'domain.firmware.uuid', 'mine'],
];

describe('what an instance is given', () => {
  for (const [rule, patch, path, expected] of RULES) test(rule, () => assert.deepEqual(filled(patch, path), expected));

  test('our finalizer, once', () => {
    const once = defaultVmi({ metadata: { name: 'db' }, spec: BARE }, { newUuid: UUID });
    const twice = defaultVmi(once, { newUuid: UUID });
    assert.deepEqual((once['metadata'] as JsonObject)['finalizers'], ['kubevirt.io/foregroundDeleteVirtualMachine']);
    assert.deepEqual(twice, once);
  });
});

describe('what the installation says', () => {
  const configuration = {
    ...DEFAULT_CONFIGURATION,
    machineType: 'pc-q35-7.2',
    cpuModel: 'Penryn',
    cpuRequest: '250m',
    evictionStrategy: 'None',
  } as const;
  const of = (patch: JsonObject) => {
    const { domain: board, evictionStrategy } = defaultVmiSpec(mergePatch(BARE, patch) as JsonObject, { newUuid: UUID, configuration });
    const { machine, cpu, resources } = board as unknown as Record<'machine' | 'cpu' | 'resources', Record<string, unknown>>;
    return [machine['type'], cpu['model'], cpu['sockets'], resources['requests'], evictionStrategy];
  };

  test('fills in what the author left open', () => {
    assert.deepEqual(of({}), ['pc-q35-7.2', 'Penryn', 1, { cpu: '250m' }, 'None']);
  });
  test('gives way to the author', () => {
    const own = domain({ machine: { type: 'q35' }, cpu: { model: 'EPYC' }, resources: { requests: { cpu: '2' } } });
    const strategy = { evictionStrategy: 'LiveMigrateIfPossible' };
    assert.deepEqual(of({ ...own, ...strategy }), ['q35', 'EPYC', 2, { cpu: '2' }, 'LiveMigrateIfPossible']);
  });
});
