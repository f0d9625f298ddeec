import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/log.ts';
import { renderValidatingAdmissionPolicies } from '../../../virt-operator/render/validating-admission-policies.ts';
import { temporaryStore } from '../../store/temporary-store.testing.ts';
import { createAdmission } from '../admission/create-admission.ts';
import { type ApiServer, createApiServer } from '../create-api-server.ts';
import type { Identity } from '../server-parts.ts';

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const ADA: Identity = { user: 'ada', groups: ['system:masters', 'system:authenticated'] };
const MAPS_ONLY = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] }];

describe('ValidatingAdmissionPolicies', () => {
  const { store, close } = temporaryStore();
  const lines: object[] = [];
  const log = { ...silentLogger, info: (message: string, fields?: object) => void lines.push({ message, ...fields }) };
  let server: ApiServer;
  let admission: ReturnType<typeof createAdmission>;

  before(async () => {
    admission = createAdmission({ store, resolveService: async () => undefined, exemptUsers: ['system:apiserver'], log });
    server = await createApiServer({ store, clock: systemClock, log: silentLogger, hooks: { admission } });
  });
  afterEach(async () => {
    for (const plural of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
      await send('DELETE', `${ADMISSION}/${plural}`);
    await send('DELETE', MAPS);
  });
  after(() => {
    admission.close();
    server.close();
    close();
  });

  async function send(method: string, path: string, body?: unknown, identity = ADA) {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    const sent = new Request(new URL(path, 'https://k'), { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const response = await server.handle(sent, identity);
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text), warning: response.headers.get('warning') };
  }

  function policy(spec: object) {
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'p' },
      spec: { matchConstraints: { resourceRules: MAPS_ONLY }, ...spec },
    };
    return send('POST', `${ADMISSION}/validatingadmissionpolicies`, body);
  }

  function binding(spec: object = {}) {
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
    };
    return send('POST', `${ADMISSION}/validatingadmissionpolicybindings`, body);
  }

  async function inForce(spec: object, ofBinding: object = {}) {
    assert.equal((await policy(spec)).status, 201);
    assert.equal((await binding(ofBinding)).status, 201);
  }

  const map = (name: string, more: object = {}) => send('POST', MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more } });
  const refusalOf = ({ status, body }: Awaited<ReturnType<typeof map>>) => [status, body.reason, body.message];
  const DENIED = `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `;

  test('a policy without a binding holds for nobody, with one for everybody', async () => {
    await policy({ validations: [{ expression: "object == null || object.metadata.name.startsWith('a')" }] });
    assert.equal((await map('b')).status, 201);
    await binding();
    assert.deepEqual(refusalOf(await map('x')), [
      422,
      'Invalid',
      `${DENIED}failed expression: object == null || object.metadata.name.startsWith('a')`,
    ]);
    assert.equal((await map('a')).status, 201);
  });

  test('the reason, the message and an expression for it are told', async () => {
    await inForce({
      validations: [{ expression: 'false', reason: 'Forbidden', message: 'no', messageExpression: "'not ' + request.name" }],
    });
    assert.deepEqual(refusalOf(await map('x')), [403, 'Forbidden', `${DENIED}not x`]);
  });

  test('a messageExpression that fails leaves it to the message', async () => {
    await inForce({ validations: [{ expression: 'false', message: 'no', messageExpression: 'object.nope' }] });
    assert.equal((await map('x')).body.message, `${DENIED}no`);
  });

  test('variables are worked out when they are asked for, and see those before them', async () => {
    await inForce({
      variables: [
        { name: 'labels', expression: 'object.metadata.?labels.orValue({})' },
        { name: 'team', expression: "variables.labels[?'team'].orValue('')" },
        { name: 'broken', expression: 'object.nope' },
      ],
      validations: [{ expression: "request.operation == 'DELETE' || variables.team != ''", message: 'a team is needed' }],
    });
    assert.equal((await map('x')).body.message, `${DENIED}a team is needed`);
    assert.equal((await map('x', { labels: { team: 'a' } })).status, 201);
  });

  test('what cannot be evaluated is refused, unless failurePolicy is Ignore', async () => {
    await inForce({ validations: [{ expression: "object.data.a == '1'" }] });
    assert.equal((await map('x')).body.message, `${DENIED}expression 'object.data.a == '1'' resulted in error: no such key: data`);
    await send('PATCH', `${ADMISSION}/validatingadmissionpolicies/p`, { spec: { failurePolicy: 'Ignore' } });
    assert.equal((await map('x')).status, 201);
  });

  test('what costs too much is refused', async () => {
    const list = `[${Array.from({ length: 100 }, (_, index) => index).join(',')}]`;
    const expression = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`;
    await inForce({ validations: [{ expression }] });
    assert.match((await map('x')).body.message, /resulted in error: operation cancelled: actual cost limit exceeded$/);
  });

  test('match conditions, excluded rules and selectors say what it is about', async () => {
    await inForce(
      {
        matchConstraints: {
          resourceRules: MAPS_ONLY,
          excludeResourceRules: [{ ...MAPS_ONLY[0], resourceNames: ['free'] }],
          objectSelector: { matchExpressions: [{ key: 'free', operator: 'DoesNotExist' }] },
        },
        matchConditions: [{ name: 'not-bob', expression: "request.name != 'bob'" }],
        validations: [{ expression: 'false' }],
      },
      { matchResources: { objectSelector: { matchExpressions: [{ key: 'unbound', operator: 'DoesNotExist' }] } } },
    );
    const outcomes = [
      await map('x'),
      await map('free'),
      await map('y', { labels: { free: '' } }),
      await map('z', { labels: { unbound: '' } }),
      await map('bob'),
    ];
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      [422, 201, 201, 201, 201],
    );
  });

  test('Warn lets it pass with a warning, Audit with a line in the log', async () => {
    await inForce({ validations: [{ expression: 'false', message: 'mind' }] }, { validationActions: ['Warn', 'Audit'] });
    const { status, warning } = await map('x');
    assert.deepEqual([status, warning], [201, `299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': mind"`]);
    assert.equal(lines.length, 1);
  });

  test('params come from the object that the binding names, in the namespace of the request', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'not-limits', expression: "request.name != 'limits'" }],
      validations: [
        { expression: 'size(object.metadata.name) <= int(params.data.max)', messageExpression: "'at most ' + params.data.max" },
      ],
    };
    await inForce(spec, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } });
    const missing = 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
    assert.equal((await map('x')).body.message, `${DENIED}${missing}`);
    const path = `${ADMISSION}/validatingadmissionpolicybindings`;
    await send('DELETE', `${path}/b`);
    await send('POST', MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'limits', labels: { l: '' } }, data: { max: '3' } });
    await binding({ paramRef: { selector: { matchLabels: { l: '' } }, parameterNotFoundAction: 'Deny' } });
    assert.match((await map('long')).body.message, /denied request: at most 3$/);
    assert.equal((await map('ok')).status, 201);
  });

  test('namespaceObject is the namespace of the object', async () => {
    await inForce({ validations: [{ expression: "namespaceObject.metadata.name == 'default'" }, { expression: 'params == null' }] });
    assert.equal((await map('x')).status, 201);
  });

  test('a policy that does not compile is refused with every expression', async () => {
    const { status, body } = await policy({
      variables: [
        { name: 'a', expression: 'variables.b' },
        { name: 'b', expression: '1' },
      ],
      validations: [{ expression: "authorizer.group('').resource('pods').check('get').allowed()" }, { expression: '1' }],
    });
    assert.equal(status, 422);
    assert.deepEqual(
      body.details.causes.map(({ field }: { field: string }) => field),
      ['spec.variables[0].expression', 'spec.validations[0].expression', 'spec.validations[1].expression'],
    );
    assert.match(body.message, /undeclared reference to 'authorizer'/);
  });

  test('its status says which generation was looked at', async () => {
    const { body } = await policy({ validations: [{ expression: 'true' }] });
    assert.deepEqual(body.status, { observedGeneration: 1, typeChecking: {} });
    const changed = await send('PATCH', `${ADMISSION}/validatingadmissionpolicies/p`, { spec: { failurePolicy: 'Ignore' } });
    assert.deepEqual([changed.body.metadata.generation, changed.body.status.observedGeneration], [2, 2]);
  });

  for (const [name, spec, expected] of [
    ['Deny and Warn together', { validationActions: ['Deny', 'Warn'] }, /must not contain both Deny and Warn/],
    ['an action that is not there', { validationActions: ['Shout'] }, /Unsupported value: "Shout"/],
    ['no action', { validationActions: [] }, /at least one validation action is required/],
    ['params without a name', { paramRef: { parameterNotFoundAction: 'Deny' } }, /one of name or selector must be specified/],
    ['params that need not be there or must', { paramRef: { name: 'x' } }, /spec.paramRef.parameterNotFoundAction: Required value/],
  ] as const) {
    test(`a binding with ${name} is refused`, async () => {
      const { status, body } = await binding(spec);
      assert.equal(status, 422);
      assert.match(body.message, expected);
    });
  }

  describe('of ours', () => {
    const launcher = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'l', labels: { 'kubevirt.io': 'virt-launcher' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const PODS = '/api/v1/namespaces/default/pods';
    const account = (name: string, node?: string): Identity => ({
      ...ADA,
      user: `system:serviceaccount:kubevirt:${name}`,
      ...(node && { extra: { 'authentication.kubernetes.io/node-name': [node] } }),
    });

    beforeEach(async () => {
      for (const object of renderValidatingAdmissionPolicies({ namespace: 'kubevirt' })) {
        const { status, body } = await send(
          'POST',
          `${ADMISSION}/${object.kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings'}`,
          object,
        );
        assert.equal(status, 201, body.message);
      }
    });

    test('nobody but virt-controller makes a Pod that may be taken for one of its own, by whatever that may be', async () => {
      const made = (metadata: object, env: readonly object[] = []) => ({
        ...launcher,
        metadata: { name: 'made', ...metadata },
        spec: { containers: [{ name: 'c', image: 'i', env }] },
      });
      const controlledBy = (apiVersion: string, kind: string) => ({
        ownerReferences: [{ apiVersion, kind, name: 'a', uid: 'u', controller: true }],
      });
      const claims = [
        made({ labels: { 'kubevirt.io': 'virt-launcher' } }),
        made({ labels: { 'kubevirt.io': 'hotplug-disk' }, ...controlledBy('v1', 'Pod') }),
        made({ labels: { 'kubevirt.io/created-by': 'u' } }),
        made(controlledBy('kubevirt.io/v1alpha3', 'VirtualMachineInstance')),
        made(controlledBy('cdi.kubevirt.io/v1beta1', 'DataVolume')),
        made(controlledBy('export.kubevirt.io/v1beta1', 'VirtualMachineExport')),
        ...['KUBEVIRT_VMI', 'KUBEVIRT_IMPORT', 'KUBEVIRT_EXPORT'].map((name) => made({}, [{ name, value: '{}' }])),
      ];
      for (const claim of claims) {
        const { status, body } = await send('POST', PODS, claim);
        assert.match(`${status} ${body.message}`, /^(403|422) .*made by virt-controller alone/, JSON.stringify(claim.metadata));
        assert.equal((await send('POST', `${PODS}?dryRun=All`, claim, account('kubevirt-controller'))).status, 201);
      }
      assert.equal((await send('POST', PODS, made(controlledBy('v1', 'Pod')))).status, 201, 'a driver may own what works for it');
    });

    test('hold here as on a cluster', async () => {
      assert.match((await send('POST', PODS, launcher)).body.message, /launcher and importer Pods are made by virt-controller alone/);
      assert.equal((await send('POST', PODS, launcher, account('kubevirt-controller'))).status, 201);
      assert.equal((await send('PATCH', `${PODS}/l`, { metadata: { labels: { mine: '' } } })).status, 200, 'it was one before');
      assert.match((await send('DELETE', `${PODS}/l`, undefined, account('kubevirt-handler'))).body.message, /has to name its node/);
      assert.match((await send('DELETE', `${PODS}/l`, undefined, account('kubevirt-handler', 'n'))).body.message, /of its own node only/);
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
      await send('POST', '/api/v1/nodes', node);
      const mark = (key: string, as: Identity) => send('PATCH', '/api/v1/nodes/n', { metadata: { labels: { [key]: 'x' } } }, as);
      const outcomes = [
        await mark('kubevirt.io/a', account('kubevirt-handler', 'n')),
        await mark('other', account('kubevirt-handler', 'n')),
        await mark('kubevirt.io/b', account('kubevirt-handler', 'm')),
      ];
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        [200, 422, 422],
      );
    });
  });
});
