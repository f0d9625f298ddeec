import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { VmiSpec } from '../api/kubevirt/vmi-spec-schema.ts';
import { mergePatch } from '../base/json.ts';
import { tinySpec, vm, vmi } from '../testing/builders.ts';
import { deriveConfiguration, type SettingState } from './derive-configuration.ts';
import { derivePatch, messageAt, patchCommand } from './derive-configuration-change.ts';

const withSpec = (spec: VmiSpec, rest: Partial<VirtualMachine['spec']> = {}, status = {}): VirtualMachine => {
  const machine = vm('Always', status);
  return { ...machine, spec: { ...machine.spec, ...rest, template: { spec } } };
};
const stateOf = (machine: VirtualMachine, id: string, instance = vmi('Running')) =>
  deriveConfiguration(machine, instance).find((setting) => setting.id === id)?.state;
const cloudInit = (userData: string): VmiSpec => ({
  ...tinySpec,
  volumes: [...(tinySpec.volumes ?? []), { name: 'ci', cloudInitNoCloud: { userData } }],
});
const ports = (...numbers: number[]): VmiSpec => ({
  ...tinySpec,
  domain: { ...tinySpec.domain, devices: { interfaces: [{ name: 'default', masquerade: {}, ports: numbers.map((port) => ({ port })) }] } },
});
const told = (fields: string) => ({
  conditions: [
    {
      type: 'RestartRequired',
      status: 'True' as const,
      reason: 'TemplateChanged',
      message: `These fields of the template wait for a restart: ${fields}`,
    },
  ],
});

const TABLE: readonly (readonly [fact: string, machine: VirtualMachine, id: string, state: SettingState])[] = [
  ['the run strategy is acted on at once', vm('Manual'), 'runStrategy', 'live'],
  ['labels of the machine are nobody else’s', vm('Always'), 'labels', 'live'],
  ['processors that the guest has need a restart', vm('Always'), 'cpus', 'needs restart'],
  ['more processors wait', withSpec({ ...tinySpec, domain: { ...tinySpec.domain, cpu: { cores: 4 } } }), 'cpus', 'pending'],
  ['more memory waits', withSpec({ ...tinySpec, domain: { ...tinySpec.domain, memory: { guest: '1Gi' } } }), 'memory', 'pending'],
  [
    'the same memory in other words does not',
    withSpec({ ...tinySpec, domain: { ...tinySpec.domain, memory: { guest: '131072Ki' } } }),
    'memory',
    'needs restart',
  ],
  ['processors by an instance type are not compared', withSpec(tinySpec, { instancetype: { name: 'u1.small' } }), 'cpus', 'needs restart'],
  [
    'another instance type waits when the controller says so',
    withSpec(tinySpec, { instancetype: { name: 'u1.small' } }, told('instancetype')),
    'instancetype',
    'pending',
  ],
  ['another disk waits', withSpec({ ...tinySpec, volumes: [{ name: 'root', containerDisk: { image: 'other' } }] }), 'disks', 'pending'],
  ['new user data waits', withSpec(cloudInit('#cloud-config')), 'cloudInit', 'pending'],
  ['a volume that changed is not user data that did', withSpec(tinySpec, {}, told('volumes')), 'cloudInit', 'needs restart'],
  ['a new port waits', withSpec(ports(80)), 'ports', 'pending'],
  ['what the cluster fills in is not pending', withSpec(tinySpec), 'evictionStrategy', 'needs restart'],
];

test('each setting says whether a change of it is live, needs a restart, or waits for one', () => {
  for (const [fact, machine, id, state] of TABLE) assert.equal(stateOf(machine, id), state, fact);
});

test('of a machine that does not run nothing is pending', () => {
  const machine = withSpec(ports(80), {}, told('domain.devices.interfaces'));
  const ended = vmi('Succeeded');
  assert.deepEqual(
    [stateOf(machine, 'ports', ended), deriveConfiguration(machine, undefined).some(({ state }) => state === 'pending')],
    ['next start', false],
  );
});

test('ports that the guest has and the machine has no more are pending', () => {
  const found = deriveConfiguration(vm('Always'), { ...vmi('Running'), spec: ports(80) }).find(({ id }) => id === 'ports');
  assert.deepEqual([found?.state, found?.wanted, found?.running], ['pending', '', '80']);
});

test('what no row is about is told as the controller says it', () => {
  const other = deriveConfiguration(withSpec(tinySpec, {}, told('domain.firmware.bootloader')), vmi('Running')).at(-1);
  assert.deepEqual([other?.id, other?.label, other?.state], ['other', 'domain.firmware.bootloader', 'pending']);
});

test('drafts become one merge patch of exactly what differs', () => {
  const machine = vm('Always', {}, { labels: { app: 'db', old: '1' } });
  const settings = deriveConfiguration(machine, undefined);
  assert.equal(derivePatch(machine, settings, { cpus: '1', labels: 'app=db, old=1' }), undefined);
  const patch = derivePatch(machine, settings, { cpus: '2', memory: '1Gi', labels: 'app=web new=x', ports: '80, 53/udp' });
  assert.ok(patch);
  assert.deepEqual(patch, {
    metadata: { labels: { old: null, app: 'web', new: 'x' } },
    spec: {
      template: {
        spec: {
          domain: {
            cpu: { cores: 2 },
            memory: { guest: '1Gi' },
            devices: {
              interfaces: [
                {
                  name: 'default',
                  masquerade: {},
                  ports: [
                    { port: 80, protocol: 'TCP' },
                    { port: 53, protocol: 'UDP' },
                  ],
                },
              ],
            },
          },
          networks: [{ name: 'default', pod: {} }],
        },
      },
    },
  });
  const changed = mergePatch(machine, patch) as VirtualMachine;
  assert.deepEqual(
    deriveConfiguration(changed, vmi('Running'))
      .filter(({ state }) => state === 'pending')
      .map(({ id }) => id),
    ['cpus', 'memory', 'ports'],
  );
});

test('user data goes into the disk that is there, or into a new one, and comes back as it was typed', () => {
  for (const machine of [withSpec(cloudInit('old')), vm('Always')]) {
    const settings = deriveConfiguration(machine, undefined);
    const changed = mergePatch(machine, derivePatch(machine, settings, { cloudInit: '#cloud-config\nname: ü' })) as VirtualMachine;
    const found = deriveConfiguration(changed, undefined).find(({ id }) => id === 'cloudInit');
    assert.equal(found?.wanted, '#cloud-config\nname: ü');
  }
});

test('a message stands at the field it is about, and the command can be pasted', () => {
  const cause = { reason: 'FieldValueInvalid', field: 'spec.template.spec.domain.memory.guest', message: 'too small' };
  assert.deepEqual(
    [messageAt([cause], 'spec.template.spec.domain.memory'), messageAt([cause], 'spec.template.spec.domain.cpu')],
    ['too small', undefined],
  );
  assert.equal(patchCommand(vm('Always'), { a: "it's" }), `kubectl patch vm db --type merge -p '{"a":"it'\\''s"}'`);
});
