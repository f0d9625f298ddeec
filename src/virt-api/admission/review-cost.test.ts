/** What somebody sends costs a bound of CPU time, however long the lists in it are: embedded, everybody waits meanwhile. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import type { VirtualMachineInstancePreset } from '../../api/kubevirt/kinds/vmi-preset.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { FakeApi } from '../fake-api.testing.ts';
import { expandGiven } from '../subresources/expand-spec.ts';
import { answerReview } from './answer-review.ts';

/** As many as fit into what the API server takes. */
const COUNT = 50_000;
const MOST_CPU_MS = 1_000;
const MOST_ANSWER = 200_000;

const many = <T>(make: (n: number) => T) => Array.from({ length: COUNT }, (_, n) => make(n));
const keys = (value: unknown) => Object.fromEntries(many((n) => [`k${n}`, value]));
const devices = (those: object) => ({ domain: { memory: { guest: '64Mi' }, devices: those } });
const card = (more: object) => ({
  networks: [{ name: 'd', pod: {} }],
  ...devices({ interfaces: [{ name: 'd', masquerade: {}, ...more }] }),
});

const SPECS: readonly (readonly [title: string, spec: object])[] = [
  ['ports', card({ ports: many((n) => ({ name: `p${n}`, port: (n % 65_535) + 1 })) })],
  [
    'disks',
    { ...devices({ disks: many((n) => ({ name: `d${n}` })) }), volumes: many((n) => ({ name: `d${n}`, emptyDisk: { capacity: '1Gi' } })) },
  ],
  ['disks of one name', devices({ disks: many(() => ({ name: 'd' })) })],
  [
    'cards',
    { ...devices({ interfaces: many((n) => ({ name: `d${n}`, masquerade: {} })) }), networks: many((n) => ({ name: `d${n}`, pod: {} })) },
  ],
  ['fields that are not honoured', devices({ gpus: many((n) => ({ name: `d${n}` })), hostDevices: many((n) => ({ name: `d${n}` })) })],
  ['tolerations', { ...devices({}), tolerations: many((n) => ({ key: `k${n}`, operator: 'Exists' })) }],
  ['labels to be chosen by', { ...devices({}), nodeSelector: keys('v') }],
  ['requests', { domain: { devices: {}, resources: { requests: keys('1') } } }],
];
const machine = (spec: object, more: object = {}) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'a', namespace: 'default' },
  spec: { runStrategy: 'Halted', template: { spec }, ...more },
});
const TEMPLATES: readonly (readonly [title: string, more: object])[] = [
  ['templates', { dataVolumeTemplates: many((n) => ({ metadata: { name: `v${n}` }, spec: {} })) }],
  ['templates without a name', { dataVolumeTemplates: many(() => ({ spec: { checkpoints: [] } })) }],
];
const MACHINES = [
  ...SPECS.map(([title, spec]) => [title, machine(spec)] as const),
  ...TEMPLATES.map(([title, more]) => [title, machine(devices({}), more)] as const),
];

for (const [title, object] of MACHINES) {
  test(`a machine with many ${title} is judged within a bound of CPU time`, async (t) => {
    const text = await withinBound(t, () => reviewed('/validate/virtualmachines', { operation: 'CREATE', object }));
    assert.ok(text.length <= MOST_ANSWER, `an answer of ${text.length} characters`);
  });

  test(`a machine with many ${title} is expanded or refused within a bound of CPU time`, async (t) => {
    const request = new Request('https://virt-api/', { method: 'PUT', body: fitting(object) });
    const call = { client: new FakeApi().client, configuration: DEFAULT_CONFIGURATION, log: silentLogger, handlerTls: {} };
    await withinBound(t, () =>
      expandGiven({ ...call, namespace: 'default', name: '', user: 'me', request }).then(
        (answer) => answer.text(),
        ({ code }) => String(code),
      ),
    );
  });
}

test('an instance that is given many requests by a preset, which an older release let in, is made within a bound of CPU time', async (t) => {
  const metadata = { name: 'a', namespace: 'default' };
  const preset = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstancePreset',
    metadata,
    spec: { domain: { resources: { requests: keys('1') } } },
  };
  const object = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: devices({}) };
  const said = await withinBound(
    t,
    () => reviewed('/mutate/virtualmachineinstances', { operation: 'CREATE', object }, [preset as unknown as VirtualMachineInstancePreset]), // of a kind that is checked
  );
  const { response } = JSON.parse(said) as { response: { patch: string } };
  assert.match(Buffer.from(response.patch, 'base64').toString(), new RegExp(`"k${COUNT - 1}":"1"`));
});

test('a preset gives a few requests', async () => {
  const object = {
    kind: 'VirtualMachineInstancePreset',
    metadata: { name: 'a' },
    spec: { domain: { resources: { requests: keys('1') } } },
  };
  const said = await reviewed('/validate/virtualmachineinstancepresets', { operation: 'CREATE', object });
  assert.match(said, /spec\.domain\.resources\.requests: Too many: 50000: must have at most 64 items/);
});

const LARGE = { matchExpressions: many((n) => ({ key: `k${n}`, operator: 'DoesNotExist' })) };
const OF_MACHINES: readonly (readonly [plural: string, kind: string, spec: object])[] = [
  ['virtualmachineinstancereplicasets', 'VirtualMachineInstanceReplicaSet', { template: { spec: devices({}) } }],
  ['virtualmachinepools', 'VirtualMachinePool', { virtualMachineTemplate: { spec: machine(devices({})).spec } }],
  ['virtualmachineinstancepresets', 'VirtualMachineInstancePreset', { domain: {} }],
];
for (const [plural, kind, spec] of OF_MACHINES)
  test(`the selector of a ${kind} has a size`, async () => {
    const object = { kind, metadata: { name: 'a' }, spec: { ...spec, selector: LARGE } };
    const said = await reviewed(`/validate/${plural}`, { operation: 'CREATE', object });
    assert.match(said, /spec\.selector: Too many: 50000: must have at most 1000 items/);
  });

test('the filters of a clone are few and short, for each is held against each label', async () => {
  const source = { kind: 'VirtualMachine', name: 'a' };
  const of = (spec: object) =>
    reviewed('/validate/virtualmachineclones', {
      operation: 'CREATE',
      object: { kind: 'VirtualMachineClone', metadata: { name: 'a' }, spec: { source, ...spec } },
    });
  assert.match(await of({ labelFilters: many((n) => `a*${n}`) }), /spec\.labelFilters: Too many: 50000: must have at most 256 items/);
  assert.match(await of({ template: { annotationFilters: ['*a'.repeat(300)] } }), /spec\.template\.annotationFilters\[0\]: Invalid value/);
  assert.match(await of({ labelFilters: ['a*', '!b/*'] }), /"allowed":true/);
});

test('whoever calls a webhook and says of nobody in particular that they ask is nobody', async () => {
  const object = { kind: 'VirtualMachineInstancePreset', metadata: { name: 'a' }, spec: { domain: {} } };
  for (const username of [{ toString: 1 }, [], 1, null])
    assert.match(
      await reviewed('/validate/virtualmachineinstancepresets', { operation: 'CREATE', object, userInfo: { username } }),
      /"allowed":true/,
    );
});

async function reviewed(path: string, request: object, presets: readonly VirtualMachineInstancePreset[] = []): Promise<string> {
  const body = JSON.stringify({ kind: 'AdmissionReview', request: { uid: '1', userInfo: { username: 'ada' }, ...request } });
  const answer = await answerReview(new Request('https://virt-api/', { method: 'POST', body }), path, {
    client: new FakeApi().client,
    clock: systemClock,
    configuration: { current: DEFAULT_CONFIGURATION, known: Promise.resolve(), onChange: () => () => {} },
    presets: { in: async () => presets },
    log: silentLogger,
  });
  return answer.text();
}

/** A body has at most a mebibyte there. */
function fitting(object: ReturnType<typeof machine>): string {
  const text = JSON.stringify(object);
  if (text.length < 2 ** 20) return text;
  const shorter = JSON.parse(text, (_, value) =>
    Array.isArray(value) ? value.slice(0, Math.floor(((COUNT * 2 ** 20) / text.length) * 0.9)) : value,
  );
  return JSON.stringify(shorter);
}

async function withinBound(t: TestContext, work: () => Promise<string>): Promise<string> {
  const before = process.threadCpuUsage();
  const answer = await work();
  const { user, system } = process.threadCpuUsage(before);
  const ms = Math.round((user + system) / 1000);
  t.diagnostic(`${ms} ms`);
  assert.ok(ms <= MOST_CPU_MS, `${ms} ms of CPU time`);
  return answer;
}
