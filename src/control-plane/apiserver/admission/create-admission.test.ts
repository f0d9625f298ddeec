import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { startWebhookWorld } from './webhook-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });

describe('admission webhooks', { timeout: 60_000 }, () => {
  let world: Awaited<ReturnType<typeof startWebhookWorld>>;

  before(async () => {
    world = await startWebhookWorld();
  });
  afterEach(() => world.reset());
  after(() => world.close());

  async function create(name: string, more: object = {}, query = '') {
    const response = await world.send('POST', `${MAPS}${query}`, map(name, more));
    return { status: response.status, body: await response.json(), warning: response.headers.get('warning') };
  }

  test('a denial is passed on with its code, reason and causes', async () => {
    await world.configure('Validating', {});
    const causes = [{ reason: 'FieldValueInvalid', message: 'no', field: 'data.x' }];
    world.answers.set('a', () => ({ allowed: false, status: { code: 422, reason: 'Invalid', message: 'not today', details: { causes } } }));
    const { status, body } = await create('x');
    assert.deepEqual(
      { status, reason: body.reason, message: body.message, details: body.details },
      { status: 422, reason: 'Invalid', message: 'admission webhook "a.example.com" denied the request: not today', details: { causes } },
    );
    assert.equal((await world.send('GET', `${MAPS}/x`)).status, 404);
  });

  test('a denial without a word is Forbidden', async () => {
    await world.configure('Validating', {});
    world.answers.set('a', () => ({ allowed: false }));
    const { status, body } = await create('x');
    assert.deepEqual([status, body.message], [403, 'admission webhook "a.example.com" denied the request without explanation']);
  });

  test('the review says who does what to which object', async () => {
    await world.configure('Validating', {});
    await create('x', { data: { a: '1' } });
    await world.send('PATCH', `${MAPS}/x`, { data: { a: '2' } }, 'application/merge-patch+json');
    await world.send('DELETE', `${MAPS}/x`);
    const seen = world.asked.map(({ review: { operation, name, userInfo, object, oldObject } }) => [
      operation,
      name,
      userInfo.username,
      (object as { data?: unknown } | null)?.data ?? null,
      (oldObject as { data?: unknown } | null)?.data ?? null,
    ]);
    assert.deepEqual(seen, [
      ['CREATE', 'x', 'ada', { a: '1' }, null],
      ['UPDATE', 'x', 'ada', { a: '2' }, { a: '1' }],
      ['DELETE', 'x', 'ada', null, { a: '2' }],
    ]);
  });

  test('mutating webhooks take turns and their patches add up', async () => {
    await world.configure('Mutating', {}, {});
    world.answers.set('a', () => ({ allowed: true, patch: [{ op: 'add', path: '/data', value: { a: '1' } }] }));
    world.answers.set('b', () => ({ allowed: true, patch: [{ op: 'add', path: '/data/b', value: '2' }], warnings: ['mind the gap'] }));
    const { status, body, warning } = await create('x');
    assert.deepEqual([status, body.data], [201, { a: '1', b: '2' }]);
    assert.match(warning ?? '', /mind the gap/);
    const again = await create('x');
    assert.equal(again.status, 409);
    assert.match(again.warning ?? '', /mind the gap/, 'what a webhook noticed is told with a refusal, too');
  });

  test('IfNeeded is asked once more when a later webhook changed the object', async () => {
    await world.configure('Mutating', { reinvocationPolicy: 'IfNeeded' }, {});
    world.answers.set('b', () => ({ allowed: true, patch: [{ op: 'add', path: '/data', value: { b: '2' } }] }));
    await create('x');
    assert.deepEqual(
      world.asked.map(({ path }) => path),
      ['a', 'b', 'a'],
    );
  });

  test('what a patch makes of the object must still be valid', async () => {
    await world.configure('Mutating', {});
    world.answers.set('a', () => ({ allowed: true, patch: [{ op: 'add', path: '/data', value: { a: 5 } }] }));
    assert.equal((await create('x')).status, 400);
  });

  test("a patch that does not apply is the webhook's fault", async () => {
    await world.configure('Mutating', {});
    world.answers.set('a', () => ({ allowed: true, patch: [{ op: 'remove', path: '/data/none' }] }));
    const { status, body } = await create('x');
    assert.equal(status, 500);
    assert.match(body.message, /failed calling webhook "a\.example\.com"/);
  });

  for (const [what, isUp] of [
    ['gives an answer that is no review', true],
    ['is a Service without endpoints', false],
  ] as const) {
    test(`when a webhook ${what}, failurePolicy Fail refuses the object and Ignore goes on`, async () => {
      world.answers.set('a', () => new Response('what?', { status: 200 }));
      world.reachable(isUp);
      await world.configure('Validating', { failurePolicy: 'Fail' });
      const { status, body } = await create('x');
      assert.equal(status, 500);
      assert.match(body.message, /^Internal error occurred: failed calling webhook "a\.example\.com": /);
      await world.send('DELETE', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/test');
      await world.configure('Validating', { failurePolicy: 'Ignore' });
      assert.equal((await create('x')).status, 201);
    });
  }

  test('a webhook that takes too long has failed', async () => {
    await world.configure('Validating', { timeoutSeconds: 1 });
    let release = (): void => {};
    world.answers.set('a', async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { allowed: true };
    });
    const { status, body } = await create('x');
    release();
    assert.equal(status, 500);
    assert.match(body.message, /failed to call webhook: Post "https:\/\/virt-api\.kubevirt\.svc:443\/a\?timeout=1s": no answer within 1 s/);
  });

  test('a server with another authority is not asked', async () => {
    const service = { namespace: 'kubevirt', name: 'virt-api', path: '/a' };
    await world.configure('Validating', { clientConfig: { service, caBundle: Buffer.from(world.pki.ca).toString('base64') } });
    assert.deepEqual([(await create('x')).status, world.asked.length], [500, 0]);
  });

  test('selectors leave out namespaces and objects', async () => {
    const notDefault = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['default'] }] };
    await world.configure('Validating', { namespaceSelector: notDefault }, { objectSelector: { matchLabels: { a: 'b' } } });
    await create('x');
    assert.deepEqual(world.asked, []);
    await world.send('PATCH', `${MAPS}/x`, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json');
    await world.send('PATCH', `${MAPS}/x`, { metadata: { labels: null } }, 'application/merge-patch+json');
    assert.deepEqual(
      world.asked.map(({ path }) => path),
      ['b', 'b'],
      'the new object has the label, then only the old one',
    );
  });

  const OF_OTHERS = "request.userInfo.username != 'ada'";
  for (const [what, expressions, policy, status, asked] of [
    ['are true', ["request.operation == 'CREATE'", "object.metadata.name == 'x' && oldObject == null"], 'Fail', 201, 1],
    ['exclude the user', [OF_OTHERS], 'Fail', 201, 0],
    ['fail, and another is false', ['object.nothing == 1', OF_OTHERS], 'Fail', 201, 0],
    ['fail under failurePolicy Fail', ['object.nothing == 1'], 'Fail', 403, 0],
    ['fail under failurePolicy Ignore', ['object.nothing == 1'], 'Ignore', 201, 0],
  ] as const) {
    test(`when matchConditions ${what}, the answer is ${status} and the webhook is asked ${asked} times`, async () => {
      const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
      await world.configure('Validating', { matchConditions, failurePolicy: policy });
      const answer = await create('x');
      assert.deepEqual([answer.status, world.asked.length], [status, asked]);
      if (status === 403) assert.equal(answer.body.message, 'configmaps "x" is forbidden: no such key: nothing');
    });
  }

  test('a configuration whose matchConditions do not compile is refused', async () => {
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'broken' },
      webhooks: [
        {
          name: 'a.example.com',
          clientConfig: { url: 'https://localhost:1/a' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          matchConditions: [{ name: 'c', expression: "authorizer.group('').resource('pods').check('get').allowed()" }],
        },
      ],
    };
    const response = await world.send('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', body);
    assert.equal(response.status, 422);
    const { details } = await response.json();
    assert.equal(details.causes[0].field, 'webhooks[0].matchConditions[0].expression');
    assert.match(details.causes[0].message, /compilation failed: undeclared reference to 'authorizer' \(in container ''\)$/);
  });

  test('a dry run asks only webhooks without side effects, and tells them', async () => {
    await world.configure('Validating', { sideEffects: 'None' });
    assert.equal((await create('x', {}, '?dryRun=All')).status, 201);
    assert.deepEqual(
      world.asked.map(({ review }) => review.dryRun),
      [true],
    );
  });

  test('subresources are asked about only when a rule names them', async () => {
    const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'] };
    await world.configure(
      'Validating',
      { rules: [{ ...rule, resources: ['namespaces'] }] },
      { rules: [{ ...rule, resources: ['namespaces/*'] }] },
    );
    await world.send('PATCH', '/api/v1/namespaces/default/status', { status: { conditions: [] } }, 'application/merge-patch+json');
    assert.deepEqual(
      world.asked.map(({ path, review }) => [path, review.subResource]),
      [['b', 'status']],
    );
  });

  test('a rule for one version sees the others converted to it', async () => {
    const version = { served: true, schema: { openAPIV3Schema: { type: 'object' } } };
    const names = { plural: 'toys', kind: 'Toy', singular: 'toy', listKind: 'ToyList' };
    const versions = [
      { ...version, name: 'v1', storage: true },
      { ...version, name: 'v1beta1', storage: false },
    ];
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'toys.example.com' } };
    await world.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      ...crd,
      spec: { group: 'example.com', scope: 'Namespaced', names, versions },
    });
    const rules = [{ operations: ['*'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['toys'] }];
    await world.configure('Mutating', { rules }, { rules, matchPolicy: 'Exact' });
    world.answers.set('a', () => ({ allowed: true, patch: [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }] }));
    const toy = { apiVersion: 'example.com/v1beta1', kind: 'Toy', metadata: { name: 'x' } };
    const made = await (await world.send('POST', '/apis/example.com/v1beta1/namespaces/default/toys', toy)).json();
    assert.deepEqual([made.apiVersion, made.metadata.labels], ['example.com/v1beta1', { a: 'b' }]);
    assert.deepEqual(
      world.asked.map(({ path, review }) => [path, review.resource.version, review.requestResource.version, review.object?.apiVersion]),
      [['a', 'v1', 'v1beta1', 'example.com/v1']],
    );
  });

  test('a webhook for everything can still be removed', async () => {
    const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    world.reachable(false);
    await world.configure('Validating', { rules: [all] });
    assert.equal((await create('x')).status, 500);
    assert.equal((await world.send('DELETE', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/test')).status, 200);
    assert.equal((await create('x')).status, 201);
  });

  test('validating webhooks are asked at the same time', async () => {
    await world.configure('Validating', {}, {});
    let met = (): void => {};
    const both = new Promise<void>((resolve) => {
      met = resolve;
    });
    const meet = async () => {
      if (world.asked.length === 2) met();
      await both; // neither answers before both were asked
      return { allowed: true };
    };
    world.answers.set('a', meet);
    world.answers.set('b', meet);
    assert.equal((await create('x')).status, 201);
  });
});
