import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { vmiRefusalOf } from '../../api/kubevirt/vm-can.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { ApiError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { FakeApi } from '../fake-api.testing.ts';
import { ROUTES, type Route } from '../routes.ts';
import type { SubresourceCall, UpgradeCall } from '../subresource-call.ts';
import { expandGiven, expandVm } from './expand-spec.ts';
import { passedOnBy } from './pass-on.ts';

const DOMAIN = { memory: { guest: '64Mi' }, devices: {} };

function vmi(phase: string, devices: object = {}, nodeName = 'n1'): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'db', namespace: 'default' },
    spec: { domain: { devices } },
    status: { phase, nodeName },
  } as VirtualMachineInstance;
}

function vm(overrides: object = {}): object {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'db', namespace: 'default' },
    spec: { runStrategy: 'Halted', template: { spec: { domain: DOMAIN } } },
    ...overrides,
  };
}

function callOf(api: FakeApi, { query = '', body }: { readonly query?: string; readonly body?: string }): SubresourceCall {
  const request = new Request(`https://virt-api/x${query}`, body === undefined ? {} : { method: 'PUT', body });
  return {
    client: api.client,
    configuration: DEFAULT_CONFIGURATION,
    log: silentLogger,
    user: 'me',
    namespace: 'default',
    name: 'db',
    request,
    handlerTls: {},
  } as SubresourceCall;
}

async function answerOf(answer: Promise<Response>): Promise<string> {
  return answer.then(
    ({ status }) => String(status),
    ({ code, reason, message }: ApiError) => `${code} ${reason}: ${message}`,
  );
}

const PICTURES: [name: string, instance: VirtualMachineInstance | undefined, query: string, expected: RegExp][] = [
  ['of an instance that is not there', undefined, '', /^404 NotFound/],
  ['of an instance that is not running', vmi('Scheduled'), '', /^500 InternalError: .*not running but Scheduled/],
  ['of an instance that failed', vmi('Failed'), '', /^500 InternalError: .*not running but Failed/],
  [
    'of an instance without a screen',
    vmi('Running', { autoattachGraphicsDevice: false }),
    '',
    /^500 InternalError: No graphics devices are present\./,
  ],
  ['with a cursor that is neither', vmi('Running'), '?moveCursor=maybe', /^400 BadRequest: moveCursor: Invalid value: "maybe"/],
  ['with a cursor that is a number', vmi('Running'), '?moveCursor=2', /^400 BadRequest: moveCursor: Invalid value: "2"/],
  ['on a node without virt-handler', vmi('Running'), '?moveCursor=true', /^503 ServiceUnavailable/],
];
for (const [name, instance, query, expected] of PICTURES) {
  test(`a screenshot ${name} is refused`, async () => {
    const api = new FakeApi();
    if (instance) api.put('virtualmachineinstances', instance);
    const screenshot = passedOnBy('vnc/screenshot');
    assert.ok(screenshot && 'answer' in screenshot);
    assert.match(await answerOf(screenshot.answer(callOf(api, { query }))), expected);
  });
}

const TEXTS: [route: string, instance: VirtualMachineInstance, expected: string][] = [
  [
    'softreboot',
    { ...vmi('Running'), spec: { domain: { devices: {}, features: { acpi: { enabled: false } } } } } as VirtualMachineInstance,
    '409 Conflict: VMI neither have the agent connected nor the ACPI feature enabled. Cannot softreboot VMI default/db',
  ],
  ['softreboot', paused(), '409 Conflict: VMI is paused. Cannot softreboot VMI default/db'],
  ['pause', paused(), '409 Conflict: VMI is already paused. Cannot pause VMI default/db'],
  ['unpause', vmi('Running'), '409 Conflict: VMI is not paused. Cannot unpause VMI default/db'],
  ['reset', vmi('Scheduled'), '409 Conflict: VMI is not running but Scheduled. Cannot reset VMI default/db'],
];
for (const [route, instance, expected] of TEXTS) {
  test(`the answer to ${route} begins with what clients of KubeVirt look for: ${expected.slice(14, 40)}`, async () => {
    const api = new FakeApi();
    api.put('virtualmachineinstances', instance);
    const served = passedOnBy(route);
    assert.ok(served && 'answer' in served);
    assert.equal(await answerOf(served.answer(callOf(api, { body: '' }))), expected);
  });
}

function paused(): VirtualMachineInstance {
  const seen = vmi('Running');
  return { ...seen, status: { ...seen.status, conditions: [{ type: 'Paused', status: 'True' }] } };
}

test('an instance without a serial console says so as KubeVirt does', () => {
  const refusal = vmiRefusalOf('console', vmi('Running', { autoattachSerialConsole: false }));
  assert.deepEqual(refusal, { reason: 'BadRequest', message: 'No serial consoles are present.' });
});

test('a machine that is not there cannot be expanded', async () => {
  assert.match(await answerOf(expandVm(callOf(new FakeApi(), {}))), /^404 NotFound: virtualmachines\.kubevirt\.io "db" not found/);
});

test('one that is there can', async () => {
  const api = new FakeApi();
  api.put('virtualmachines', vm() as VirtualMachine);
  assert.equal(await answerOf(expandVm(callOf(api, {}))), '200');
});

const BODIES: [name: string, body: string, expected: RegExp][] = [
  ['a machine', JSON.stringify(vm()), /^200$/],
  ['a machine without a namespace', JSON.stringify(vm({ metadata: { name: 'db' } })), /^200$/],
  ['an empty body', '', /^400 BadRequest: Cannot expand the body: it is no VirtualMachine but "nothing"/],
  ['a list', '[]', /^400 BadRequest: the body of the request is not an object/],
  ['a body that cannot be parsed', 'a: [', /^400 BadRequest: the body of the request is neither JSON nor YAML/],
  ['another kind', '{"apiVersion":"v1","kind":"Pod"}', /^400 BadRequest: .*no VirtualMachine but "Pod"/],
  ['another group', '{"apiVersion":"example.com/v1","kind":"VirtualMachine"}', /^400 BadRequest/],
  [
    'a machine of another namespace',
    JSON.stringify(vm({ metadata: { name: 'db', namespace: 'test' } })),
    /^400 BadRequest: VM namespace must be default/,
  ],
  ['a machine without a template', JSON.stringify(vm({ spec: { runStrategy: 'Halted' } })), /^400 BadRequest: .*template/],
  ['YAML that would take long', `a: ${'['.repeat(64 * 1024)}`, /^413 RequestEntityTooLarge: .*YAML of more than 65536/],
  ['JSON of the same length', `{"a":"${'x'.repeat(64 * 1024)}"}`, /^400 BadRequest: .*no VirtualMachine/],
  ['a body that is too large', `{"a":"${'x'.repeat(1024 * 1024)}"}`, /^413 RequestEntityTooLarge/],
];
for (const [name, body, expected] of BODIES) {
  test(`${name} to expand: ${expected.source.slice(1, 4)}`, async () => {
    assert.match(await answerOf(expandGiven(callOf(new FakeApi(), { body }))), expected);
  });
}

test('a machine to expand gets the type that its volume names, in the place of the memory that was there in case', async () => {
  const api = new FakeApi();
  const labels = {
    'instancetype.kubevirt.io/default-instancetype': 'duo',
    'instancetype.kubevirt.io/default-instancetype-kind': 'VirtualMachineInstancetype',
  };
  api.put('persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'disk', labels } });
  const spec = { cpu: { guest: 2 }, memory: { guest: '96Mi' } };
  api.put('virtualmachineinstancetypes', { apiVersion: 'instancetype.kubevirt.io/v1beta1', kind: 'VirtualMachineInstancetype', metadata: { name: 'duo' }, spec } as KubeObject); // biome-ignore format: one object
  const volumes = [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }];
  const instancetype = { inferFromVolume: 'disk', inferFromVolumeFailurePolicy: 'Ignore' };
  const given = vm({ spec: { runStrategy: 'Halted', instancetype, template: { spec: { domain: DOMAIN, volumes } } } });
  const answer = await expandGiven(callOf(api, { body: JSON.stringify(given) }));
  const { instancetype: left, template } = ((await answer.json()) as VirtualMachine).spec;
  assert.deepEqual([left, template.spec.domain.cpu?.sockets, template.spec.domain.memory], [undefined, 2, { guest: '96Mi' }]);
});

/**
 * What each subresource of an instance answers when there is none; when it is Scheduled, Failed, Running, or Running and paused, without an
 * agent; and when it runs with one. 503 is a yes: nobody is there to pass it on to. A volume that nobody names is a 400. A new subresource needs a line here.
 */
const ANSWERS: Readonly<Record<string, string>> = {
  pause: '404 409 409 503 409 503',
  unpause: '404 409 409 409 503 409',
  reset: '404 409 409 503 503 503',
  softreboot: '404 409 409 503 409 503',
  freeze: '404 409 409 500 500 503',
  unfreeze: '404 409 409 500 500 503',
  exec: '404 409 409 409 409 503',
  guestosinfo: '404 500 500 500 500 503',
  userlist: '404 500 500 500 500 503',
  filesystemlist: '404 500 500 500 500 503',
  usage: '404 409 409 503 503 503',
  usagehistory: '404 409 409 503 503 503',
  console: '404 400 409 503 503 503',
  vnc: '404 400 400 503 503 503',
  'vnc/screenshot': '404 500 500 503 503 503',
  portforward: '404 400 400 503 409 503',
  addvolume: '404 409 409 400 400 400',
  removevolume: '404 409 409 400 400 400',
  'evacuate/cancel': '404 200 200 200 200 200',
};

test('each subresource of an instance answers as published, in each state', async () => {
  const withStatus = (phase: string, ...conditions: string[]): VirtualMachineInstance => {
    const status = { phase, nodeName: 'n1', interfaces: [{}], conditions: conditions.map((type) => ({ type, status: 'True' })) };
    return { ...vmi(phase), status } as VirtualMachineInstance;
  };
  const states = [
    undefined,
    withStatus('Scheduled'),
    withStatus('Failed'),
    withStatus('Running'),
    withStatus('Running', 'Paused'),
    withStatus('Running', 'AgentConnected'),
  ];
  const answers: Record<string, string> = {};
  for (const route of ROUTES.filter(({ resource }) => resource === 'virtualmachineinstances'))
    answers[route.subresource] = (await Promise.all(states.map((state) => codeOf(route, state)))).join(' ');
  assert.deepEqual(answers, ANSWERS);
});

/** The code with which a call of this route is answered, when the instance is so. */
async function codeOf(route: Route, instance: VirtualMachineInstance | undefined): Promise<string> {
  const api = new FakeApi();
  if (instance) api.put('virtualmachineinstances', instance);
  const { request, ...common } = callOf(api, route.method === 'PUT' ? { body: '{"command":["id"]}' } : {});
  const url = `/x/${route.subresource}${route.takesRest ? '/80' : ''}`;
  const upgrade = { request: { url, headers: {} } } as unknown as UpgradeCall['upgrade'];
  const answer = 'open' in route ? route.open({ ...common, upgrade }).then(() => new Response()) : route.answer({ ...common, request });
  return (await answerOf(answer)).slice(0, 3);
}

test('a soft reboot needs somebody in the guest to notice', async () => {
  const deaf = { ...vmi('Running'), spec: { domain: { devices: {}, features: { acpi: { enabled: false } } } } } as VirtualMachineInstance;
  const route = ROUTES.find(({ subresource }) => subresource === 'softreboot');
  assert.ok(route);
  assert.equal(await codeOf(route, deaf), '409');
});

test('a port of a machine that is not there, or does not run, is refused as published', async () => {
  const { request: _, ...call } = callOf(new FakeApi(), {});
  const upgrade = { request: { url: '/x/portforward/80', headers: {} } } as unknown as UpgradeCall['upgrade'];
  const route = ROUTES.find(({ resource, subresource }) => resource === 'virtualmachines' && subresource === 'portforward');
  assert.ok(route && 'open' in route);
  const open = async (api: FakeApi) => answerOf(route.open({ ...call, client: api.client, upgrade }).then(() => new Response()));
  const stopped = new FakeApi();
  stopped.put('virtualmachines', vm() as VirtualMachine);
  assert.match(await open(new FakeApi()), /^404 NotFound: virtualmachines\.kubevirt\.io "db" not found/);
  assert.match(await open(stopped), /^409 Conflict: .*VM is not running/);
});
