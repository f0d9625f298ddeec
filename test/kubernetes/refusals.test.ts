/** What quotas, limit ranges, rules in CEL and admission policies refuse, in the words of a real API server. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../src/testing/until.ts';
import { kubernetesSkipReason } from './kubernetes-skip-reason.ts';
import { type Asked, TwoServers } from './two-servers.ts';

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const MERGE = 'application/merge-patch+json';

const namespace = (name: string): Asked => ({
  method: 'POST',
  path: '/api/v1/namespaces',
  body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
});
const core = (kind: string, plural: string, place: string, name: string, more: object): Asked => ({
  method: 'POST',
  path: `/api/v1/namespaces/${place}/${plural}`,
  body: { apiVersion: 'v1', kind, metadata: { name }, ...more },
});
const pod = (place: string, name: string, ...resources: object[]): Asked =>
  core('Pod', 'pods', place, name, {
    spec: { containers: resources.map((each, index) => ({ name: `c${index}`, image: 'example', resources: each })) },
  });
const claim = (place: string, name: string, storage: string): Asked =>
  core('PersistentVolumeClaim', 'persistentvolumeclaims', place, name, {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  });
const quota = (place: string, hard: object): Asked => core('ResourceQuota', 'resourcequotas', place, 'q', { spec: { hard } });
/** Beside the real API server nobody counts, so it is told what a controller would have found. */
const counted = (place: string, hard: object, used: object): Asked => ({
  method: 'PATCH',
  path: `/api/v1/namespaces/${place}/resourcequotas/q/status`,
  type: MERGE,
  body: { status: { hard, used } },
});

const field = (type: string, rules: object[], more: object = {}) => ({ type, 'x-kubernetes-validations': rules, ...more });
const gadgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Cluster',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: field(
                'object',
                [
                  { rule: 'self.low <= self.high', message: 'low is at most high' },
                  { rule: 'self.low % 2 == 0', messageExpression: "'low is odd, mode ' + self.mode" },
                  { rule: '!has(self.mode) || self.mode != "off" || self.high == 0', reason: 'FieldValueForbidden', fieldPath: '.mode' },
                ],
                {
                  properties: {
                    low: { type: 'integer' },
                    high: { type: 'integer' },
                    mode: field('string', [{ rule: 'self.startsWith("o")' }], { maxLength: 10 }),
                    fixed: field('string', [{ rule: 'self == oldSelf', message: 'stays as it is' }], { maxLength: 10 }),
                    names: { type: 'array', maxItems: 5, items: field('string', [{ rule: 'size(self) > 1' }], { maxLength: 10 }) },
                  },
                },
              ),
            },
          },
        },
      },
    ],
  },
};
const gadget = (name: string, spec: object): Asked => ({
  method: 'POST',
  path: '/apis/ex.io/v1/gadgets',
  body: { apiVersion: 'ex.io/v1', kind: 'Gadget', metadata: { name }, spec: { low: 0, high: 0, ...spec } },
});
const definition = (rules: object[]): Asked => ({
  method: 'POST',
  path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  body: {
    ...gadgets,
    metadata: { name: 'others.ex.io' },
    spec: {
      ...gadgets.spec,
      names: { plural: 'others', singular: 'other', kind: 'Other', listKind: 'OtherList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: field('object', rules, { properties: { n: { type: 'integer' } } }) } },
          },
        },
      ],
    },
  },
});

const MAPS = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
const policy = (name: string, spec: object): Asked => ({
  method: 'POST',
  path: `${ADMISSION}/validatingadmissionpolicies`,
  body: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: MAPS },
      matchConditions: [{ name: 'of-it', expression: `object.metadata.?labels[?'p'].orValue('') == '${name}'` }],
      ...spec,
    },
  },
});
const binding = (name: string, spec: object = {}): Asked => ({
  method: 'POST',
  path: `${ADMISSION}/validatingadmissionpolicybindings`,
  body: {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], ...spec },
  },
});
/** Nothing is made: the request is repeated until the real server has heard of the policy. */
const map = (p: string): Asked => {
  const { path, ...asked } = core('ConfigMap', 'configmaps', 'policies', 'm', { metadata: { name: 'm', labels: { p } } });
  return { ...asked, path: `${path}?dryRun=All` };
};

type Difference = {
  readonly onlyCode?: string;
  readonly only?: 'real';
  readonly inForce?: (answer: { code: number; warnings: string | undefined }) => boolean;
};
const REFUSED: Difference = { inForce: ({ code }) => code !== 201 };
const HARD = { pods: '2', 'requests.cpu': '1', 'requests.storage': '1Gi', 'count/configmaps': '2' };

/** In order: later requests see what earlier ones did. A reason is why a difference is accepted. */
const REQUESTS: readonly [name: string, asked: Asked, difference?: Difference][] = [
  ['a namespace for limits', namespace('limits')],
  [
    'a limit range',
    core('LimitRange', 'limitranges', 'limits', 'l', {
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '1' }, min: { memory: '10Mi' }, maxLimitRequestRatio: { cpu: '2' } },
          { type: 'Pod', max: { memory: '100Mi' } },
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } },
        ],
      },
    }),
  ],
  ['too much for a container', pod('limits', 'a', { limits: { cpu: '2', memory: '20Mi' } })],
  ['too little for a container', pod('limits', 'b', { limits: { cpu: '1', memory: '1Mi' } })],
  ['a limit too far above its request', pod('limits', 'c', { limits: { cpu: '1', memory: '20Mi' }, requests: { cpu: '100m' } })],
  ['too much for all containers', pod('limits', 'd', { limits: { cpu: '1', memory: '60Mi' } }, { limits: { cpu: '1', memory: '60Mi' } })],
  ['no memory where there is a least', pod('limits', 'e', { limits: { cpu: '1' } })],
  ['too small a claim', claim('limits', 'small', '1Mi')],
  ['too large a claim', claim('limits', 'large', '5Gi')],

  ['a namespace for quotas', namespace('quotas')],
  ['a quota', quota('quotas', HARD), { onlyCode: 'ours counts at once' }],
  [
    'is counted',
    counted('quotas', HARD, { pods: '0', 'requests.cpu': '0', 'requests.storage': '0', 'count/configmaps': '0' }),
    { only: 'real' },
  ],
  ['a Pod without the request that is counted', pod('quotas', 'a', {})],
  ['a Pod of more than there is', pod('quotas', 'b', { requests: { cpu: '2' } })],
  ['a Pod that fits', pod('quotas', 'c', { requests: { cpu: '600m' } })],
  ['the next does not', pod('quotas', 'd', { requests: { cpu: '500m' } })],
  ['a small one does', pod('quotas', 'e', { requests: { cpu: '100m' } })],
  ['and no more', pod('quotas', 'f', { requests: { cpu: '100m' } })],
  ['and surely not two things at once', pod('quotas', 'g', { requests: { cpu: '2' } })],
  ['a claim of more than there is', claim('quotas', 'large', '5Gi')],
  ['an object that is counted', core('ConfigMap', 'configmaps', 'quotas', 'one', {})],
  ['another', core('ConfigMap', 'configmaps', 'quotas', 'two', {})],
  ['one too many', core('ConfigMap', 'configmaps', 'quotas', 'three', {})],
  ['a quota that is less than nothing', quota('limits', { pods: '-1' })],
  ['a quota of parts', quota('limits', { pods: '1.5' }), { onlyCode: 'ours tells the amount as it was written' }],

  [
    'a definition with rules',
    { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: gadgets },
    { onlyCode: 'conditions come a moment later' },
  ],
  ['all rules kept', gadget('ok', { low: 2, high: 3, mode: 'on', fixed: 'x' })],
  ['a rule with a message', gadget('a', { low: 2, high: 1 })],
  ['a rule with an expression for it', gadget('b', { low: 1, high: 1, mode: 'on' })],
  ['an expression that cannot be evaluated leaves it to the rule', gadget('b', { low: 1, high: 1 })],
  ['a rule about a field', gadget('c', { high: 1, mode: 'off' })],
  ['a rule without a message', gadget('d', { mode: 'x' })],
  ['rules of items', gadget('e', { names: ['aa', 'b', 'c'] })],
  ['several at once', gadget('f', { low: 3, high: 1, mode: 'x' })],
  [
    'a rule that cannot be evaluated',
    {
      method: 'POST',
      path: '/apis/ex.io/v1/gadgets',
      body: { apiVersion: 'ex.io/v1', kind: 'Gadget', metadata: { name: 'g' }, spec: { low: 1 } },
    },
  ],
  ['a change that a rule forbids', { method: 'PATCH', path: '/apis/ex.io/v1/gadgets/ok', type: MERGE, body: { spec: { fixed: 'y' } } }],
  ['a rule that is no expression', definition([{ rule: 'self.n +' }]), { onlyCode: 'the text is that of the parser' }],
  ['a rule about what there is not', definition([{ rule: 'self.m > 1' }]), { onlyCode: 'the text is that of the type checker' }],
  ['a rule that is no yes or no', definition([{ rule: 'self.n' }]), { onlyCode: 'the text is that of the type checker' }],
  [
    'a rule that says nothing',
    definition([{ rule: '' }]),
    { onlyCode: 'the real one names where it keeps the schema of a single version' },
  ],

  ['a namespace for policies', namespace('policies')],
  [
    'a policy',
    policy('plain', { validations: [{ expression: "object.metadata.name == 'x'" }] }),
    { onlyCode: 'its status comes a moment later' },
  ],
  ['its binding', binding('plain')],
  ['a refusal without a message', map('plain'), REFUSED],
  [
    'a policy with a message',
    policy('worded', { validations: [{ expression: 'false', message: 'no', reason: 'Forbidden' }] }),
    { onlyCode: 'its status comes a moment later' },
  ],
  ['its binding, too', binding('worded')],
  ['a refusal with a message and a reason', map('worded'), REFUSED],
  [
    'a policy with an expression for its message',
    policy('spoken', {
      variables: [{ name: 'it', expression: 'object.metadata.name' }],
      validations: [{ expression: 'false', messageExpression: "'not ' + variables.it" }],
    }),
    { onlyCode: 'its status comes a moment later' },
  ],
  ['and its binding', binding('spoken')],
  ['a refusal that was put together', map('spoken'), REFUSED],
  [
    'a policy that cannot be evaluated',
    policy('broken', { validations: [{ expression: "object.data.a == 'x'" }] }),
    { onlyCode: 'its status comes a moment later' },
  ],
  ['bound', binding('broken')],
  ['a refusal because of that', map('broken'), REFUSED],
  [
    'a policy that warns',
    policy('mild', { validations: [{ expression: 'false', message: 'mind' }] }),
    { onlyCode: 'its status comes a moment later' },
  ],
  ['bound to warn', binding('mild', { validationActions: ['Warn'] })],
  ['a warning', map('mild'), { inForce: ({ warnings }) => warnings !== undefined }],
  [
    'a policy with params',
    policy('given', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: "params.data.may == 'yes'" }] }),
    { onlyCode: 'its status comes a moment later' },
  ],
  ['bound to what is not there', binding('given', { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } })],
  ['a refusal for want of params', map('given'), REFUSED],
  ['a policy without validations', policy('none', {})],
  ['a policy without constraints', policy('none', { matchConstraints: null, validations: [{ expression: 'true' }] })],
  ['a binding to deny and warn', binding('none', { validationActions: ['Deny', 'Warn'] })],
  ['a binding to something else', binding('none', { validationActions: ['Shout'] })],
  ['a binding to nothing', binding('none', { validationActions: [] })],
  ['a binding with half a param', binding('none', { paramRef: { parameterNotFoundAction: 'Deny' } })],
];

describe('refusals have the words of a real Kubernetes', { skip: kubernetesSkipReason() }, () => {
  let servers: TwoServers;
  before(async () => {
    servers = await TwoServers.start();
  });
  after(async () => {
    await servers?.[Symbol.asyncDispose]();
  });

  for (const [name, asked, difference = {}] of REQUESTS) {
    const { onlyCode, only, inForce } = difference;
    test(onlyCode ? `${name} (code only: ${onlyCode})` : name, async () => {
      if (inForce) await until(async () => inForce(await servers.ask('real', asked)), 'the real server to have heard of the policy');
      const { raw, ...real } = await servers.ask('real', asked);
      if (only === 'real') return assert.equal(real.code, 200);
      const { raw: _ours, ...ours } = await servers.ask('ours', asked);
      if (asked.path.endsWith('/customresourcedefinitions')) await servers.definitionsAreServed();
      if (onlyCode) assert.equal(ours.code, real.code, JSON.stringify(raw));
      else assert.deepEqual(ours, real);
    });
  }
});
