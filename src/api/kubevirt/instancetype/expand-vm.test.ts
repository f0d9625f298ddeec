import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import type { VirtualMachine } from '../kinds/virtual-machine.ts';
import type { VmiSpec } from '../vmi-spec-schema.ts';
import type { Chosen } from './chosen.ts';
import { topologyOf } from './cpu-topology.ts';
import { choiceAnnotations, expandVm } from './expand-vm.ts';
import type { InstancetypeSpec } from './instancetype-schema.ts';
import type { PreferenceSpec } from './preference-schema.ts';

const SMALL: InstancetypeSpec = { cpu: { guest: 2 }, memory: { guest: '1Gi' } };
const apiVersion = 'instancetype.kubevirt.io/v1beta1';

function machine(spec: Partial<VmiSpec> = {}, annotations?: Record<string, string>): VirtualMachine {
  const whole: VmiSpec = { domain: { devices: {} }, volumes: [{ name: 'root', containerDisk: { image: 'x:1' } }], ...spec };
  return { ...vm('Always'), spec: { runStrategy: 'Always', template: { ...(annotations && { metadata: { annotations } }), spec: whole } } };
}

function chosen(instancetype?: InstancetypeSpec, preference?: PreferenceSpec): Chosen {
  return {
    ...(instancetype && {
      instancetype: { object: { apiVersion, kind: 'VirtualMachineInstancetype', metadata: { name: 'small' }, spec: instancetype } },
    }),
    ...(preference && {
      preference: { object: { apiVersion, kind: 'VirtualMachineClusterPreference', metadata: { name: 'linux' }, spec: preference } },
    }),
  };
}

function expanded(given: VirtualMachine, instancetype?: InstancetypeSpec, preference?: PreferenceSpec): VmiSpec {
  const result = expandVm(given, chosen(instancetype, preference));
  assert.ok('vm' in result, JSON.stringify(result));
  return result.vm.spec.template.spec;
}

function refusals(given: VirtualMachine, instancetype?: InstancetypeSpec, preference?: PreferenceSpec): string[] {
  const result = expandVm(given, chosen(instancetype, preference));
  return 'causes' in result ? result.causes.map(({ field, message }) => `${field}: ${message}`) : [];
}

describe('an instance type', () => {
  test('becomes processors and memory of the machine', () => {
    const { domain } = expanded(machine(), { ...SMALL, memory: { guest: '1Gi', overcommitPercent: 50 }, nodeSelector: { a: 'b' } });
    assert.deepEqual(domain, {
      cpu: { sockets: 2, cores: 1, threads: 1 },
      memory: { guest: '1Gi' },
      resources: { requests: { memory: '512Mi' } },
      devices: {},
    });
  });

  test('is told by an annotation of the instance, as the preference is', () => {
    assert.deepEqual(choiceAnnotations(chosen(SMALL, {})), {
      'kubevirt.io/instancetype-name': 'small',
      'kubevirt.io/cluster-preference-name': 'linux',
    });
  });

  test('leaves no choice behind in an expanded machine', () => {
    const given = machine();
    const named = { ...given, spec: { ...given.spec, instancetype: { name: 'small' }, preference: { name: 'linux' } } };
    const result = expandVm(named, chosen(SMALL, {}));
    assert.deepEqual('vm' in result && Object.keys(result.vm.spec), ['runStrategy', 'template']);
  });

  test('brings devices that are refused later as if the template said so', () => {
    const { domain } = expanded(machine(), { ...SMALL, gpus: [{ name: 'g' }], cpu: { guest: 1, dedicatedCPUPlacement: true } });
    assert.deepEqual(domain.devices, { gpus: [{ name: 'g' }] });
    assert.equal((domain.cpu as Record<string, unknown>)['dedicatedCpuPlacement'], true);
  });

  const devices = {};
  const CONFLICTS: [said: Partial<VmiSpec>, path: string, type?: Partial<InstancetypeSpec>][] = [
    [{ domain: { cpu: { cores: 1 }, devices } }, 'domain.cpu.cores'],
    [{ domain: { cpu: { sockets: 1 }, devices } }, 'domain.cpu.sockets'],
    [{ domain: { cpu: { threads: 1 }, devices } }, 'domain.cpu.threads'],
    [{ domain: { memory: { guest: '1Gi' }, devices } }, 'domain.memory.guest'],
    [{ domain: { resources: { requests: { memory: '1Gi' } }, devices } }, 'domain.resources.requests.memory'],
    [{ domain: { resources: { limits: { cpu: 1 } }, devices } }, 'domain.resources.limits.cpu'],
    [{ domain: { cpu: { model: 'host-model' }, devices } }, 'domain.cpu.model', { cpu: { guest: 1, model: 'Haswell' } }],
    [{ domain: { ioThreadsPolicy: 'auto', devices } }, 'domain.ioThreadsPolicy', { ioThreadsPolicy: 'shared' }],
    [{ nodeSelector: { a: 'b' } }, 'nodeSelector', { nodeSelector: { c: 'd' } }],
    [{ schedulerName: 'mine' }, 'schedulerName', { schedulerName: 'theirs' }],
  ];
  for (const [said, path, type] of CONFLICTS) {
    test(`contradicts ${path} of the template`, () => {
      const field = `spec.template.spec.${path}`;
      assert.deepEqual(refusals(machine(said), { ...SMALL, ...type }), [
        `${field}: VM field ${field} conflicts with selected instance type`,
      ]);
    });
  }

  test('leaves alone what it says nothing of', () => {
    assert.deepEqual(refusals(machine({ nodeSelector: { a: 'b' }, domain: { cpu: { model: 'host-model' }, devices } }), SMALL), []);
  });

  test('has annotations of its own', () => {
    assert.match(refusals(machine({}, { a: '1' }), { ...SMALL, annotations: { a: '2' } }).join(), /annotations\[a\]/);
    assert.deepEqual(refusals(machine({}, { a: '1' }), { ...SMALL, annotations: { a: '1', b: '2' } }), []);
  });
});

describe('a preference', () => {
  test('fills in what the template leaves open', () => {
    const preference: PreferenceSpec = {
      machine: { preferredMachineType: 'pc-q35-7.2' },
      clock: { preferredClockOffset: { timezone: 'UTC' } },
      features: { preferredSmm: { enabled: true } },
      firmware: { preferredUseEfi: true, preferredUseSecureBoot: true },
      cpu: { preferredCPUFeatures: [{ name: 'aes' }] },
      devices: { preferredDiskBus: 'virtio', preferredDiskCache: 'none', preferredInterfaceModel: 'e1000', preferredVideoType: 'virtio' },
      preferredTerminationGracePeriodSeconds: 7,
      preferredSubdomain: 'vms',
    };
    assert.deepEqual(expanded(machine(), undefined, preference), {
      subdomain: 'vms',
      terminationGracePeriodSeconds: 7,
      volumes: [{ name: 'root', containerDisk: { image: 'x:1' } }],
      networks: [{ name: 'default', pod: {} }],
      domain: {
        machine: { type: 'pc-q35-7.2' },
        clock: { timezone: 'UTC' },
        features: { smm: { enabled: true } },
        firmware: { bootloader: { efi: { secureBoot: true } } },
        cpu: { features: [{ name: 'aes' }] },
        devices: {
          disks: [{ name: 'root', disk: { bus: 'virtio' }, cache: 'none' }],
          interfaces: [{ name: 'default', masquerade: {}, model: 'e1000' }],
          video: { type: 'virtio' },
        },
      },
    });
  });

  test('never takes anything away', () => {
    const given = machine({
      terminationGracePeriodSeconds: 3,
      networks: [{ name: 'default', pod: {} }],
      domain: {
        machine: { type: 'q35' },
        clock: { utc: {} },
        features: { smm: { enabled: false } },
        firmware: { bootloader: { bios: {} } },
        cpu: { features: [{ name: 'aes', policy: 'disable' }] },
        devices: {
          disks: [{ name: 'root', cdrom: { bus: 'sata' } }],
          interfaces: [{ name: 'default', masquerade: {}, model: 'virtio' }],
          video: { type: 'vga' },
          autoattachMemBalloon: false,
        },
      },
    });
    const preference: PreferenceSpec = {
      machine: { preferredMachineType: 'other' },
      clock: { preferredClockOffset: { timezone: 'UTC' } },
      features: { preferredSmm: { enabled: true } },
      firmware: { preferredUseEfi: true },
      cpu: { preferredCPUFeatures: [{ name: 'aes' }] },
      devices: {
        preferredCdromBus: 'usb',
        preferredInterfaceModel: 'e1000',
        preferredVideoType: 'virtio',
        preferredAutoattachMemBalloon: true,
      },
      preferredTerminationGracePeriodSeconds: 7,
    };
    assert.deepEqual(expanded(given, undefined, preference), given.spec.template.spec);
  });

  test('adds no card where there is to be none', () => {
    const given = machine({ domain: { devices: { autoattachPodInterface: false } } });
    assert.equal(expanded(given, undefined, { devices: { preferredInterfaceModel: 'e1000' } }).domain.devices.interfaces, undefined);
  });

  test('asks for the least that a machine must have', () => {
    const needs: PreferenceSpec = { requirements: { cpu: { guest: 4 }, memory: { guest: '2Gi' }, architecture: 'arm64' } };
    const why = 'failure checking preference requirements: ';
    assert.deepEqual(refusals(machine(), SMALL, needs), [
      `spec.instancetype: ${why}insufficient CPU resources of 2 vCPU provided by instance type, preference requires 4 vCPU`,
      `spec.instancetype: ${why}insufficient Memory resources of 1Gi provided by instance type, preference requires 2Gi`,
      `spec.template.spec.architecture: ${why}preference requires architecture arm64 but amd64 is being requested`,
    ]);
    const big = machine({ domain: { cpu: { cores: 4 }, memory: { guest: '2Gi' }, devices: {} } });
    assert.deepEqual(refusals(big, undefined, { requirements: { cpu: { guest: 4 }, memory: { guest: '2Gi' } } }), []);
  });

  const TOPOLOGIES: [PreferenceSpec, vcpus: number, expected: string][] = [
    [{}, 4, '4/1/1'],
    [{ cpu: { preferredCPUTopology: 'any' } }, 4, '4/1/1'],
    [{ cpu: { preferredCPUTopology: 'cores' } }, 4, '1/4/1'],
    [{ cpu: { preferredCPUTopology: 'preferThreads' } }, 4, '1/1/4'],
    [{ cpu: { preferredCPUTopology: 'spread' } }, 4, '2/2/1'],
    [{ cpu: { preferredCPUTopology: 'spread' } }, 1, '1/1/1'],
    [{ cpu: { preferredCPUTopology: 'spread' }, preferSpreadSocketToCoreRatio: 4 }, 8, '2/4/1'],
    [{ cpu: { preferredCPUTopology: 'spread', spreadOptions: { across: 'CoresThreads' } } }, 6, '1/3/2'],
    [{ cpu: { preferredCPUTopology: 'spread', spreadOptions: { across: 'SocketsCoresThreads', ratio: 3 } } }, 12, '2/3/2'],
    [{ cpu: { preferredCPUTopology: 'spread', spreadOptions: { ratio: 4 } } }, 6, 'cannot be spread across SocketsCores'],
  ];
  for (const [preference, vcpus, expected] of TOPOLOGIES) {
    test(`${vcpus} processors by ${JSON.stringify(preference)}: ${expected}`, () => {
      const found = topologyOf(vcpus, preference);
      const text = 'why' in found ? found.why : [found.sockets, found.cores, found.threads].join('/');
      assert.ok(text.includes(expected), text);
    });
  }
});

test('what is not there is named with its field', () => {
  assert.deepEqual(expandVm(machine(), { instancetype: { missing: 'x "y" not found' } }), {
    causes: [{ reason: 'FieldValueNotFound', field: 'spec.instancetype', message: 'Failure to find instancetype: x "y" not found' }],
  });
});
