import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { kubernetesSkipReason } from './kubernetes-skip-reason.ts';
import { type Asked, TwoServers } from './two-servers.ts';

const NS = '/api/v1/namespaces/t1';
const CM = `${NS}/configmaps`;
const POD = `${NS}/pods`;
const WIDGETS = '/apis/ex.io/v1/namespaces/t1/widgets';
const MERGE = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

const configMap = (name: string, data: object = { a: 'b' }) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const pod = (name: string, extra: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'example' }], ...extra },
});
const widget = (name: string, spec: object) => ({ apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name }, spec });
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, maximum: 100 },
                  replicas: { type: 'integer', default: 1 },
                  color: { type: 'string', enum: ['red', 'green'] },
                  port: { 'x-kubernetes-int-or-string': true },
                },
              },
              status: { type: 'object', properties: { replicas: { type: 'integer' }, n: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

/** In order: later requests see what earlier ones did. A reason is why a difference is accepted. */
const REQUESTS: [string, Asked, { readonly onlyCode?: string }?][] = [
  [
    'a namespace is created',
    { method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 't1' } } },
  ],
  [
    'a namespace that exists',
    { method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 't1' } } },
  ],
  [
    'a namespace with a bad name',
    { method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'Bad_Name' } } },
  ],
  ['an object is created', { method: 'POST', path: CM, body: configMap('one') }],
  ['an object that exists', { method: 'POST', path: CM, body: configMap('one') }],
  ['an object without a name', { method: 'POST', path: CM, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } }],
  ['an object in a namespace that is not there', { method: 'POST', path: '/api/v1/namespaces/nope/configmaps', body: configMap('one') }],
  [
    'an object of another kind than the path',
    { method: 'POST', path: CM, body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } } },
    { onlyCode: 'the text names Go types' },
  ],
  [
    'an object of another namespace than the path',
    { method: 'POST', path: CM, body: { ...configMap('x'), metadata: { name: 'x', namespace: 'other' } } },
  ],
  ['a body that is not JSON', { method: 'POST', path: CM, body: '{"a":' }, { onlyCode: "the text is that of Go's parser" }],
  ['a content type nobody knows', { method: 'POST', path: CM, body: 'x', type: 'text/strange' }],
  ['an unknown field, strict', { method: 'POST', path: `${CM}?fieldValidation=Strict`, body: { ...configMap('strict'), datta: {} } }],
  ['an unknown field, warned of', { method: 'POST', path: `${CM}?fieldValidation=Warn`, body: { ...configMap('warned'), datta: {} } }],
  ['a dry run', { method: 'POST', path: `${CM}?dryRun=All`, body: configMap('dry') }],
  ['what a dry run made', { path: `${CM}/dry` }],
  ['an object', { path: `${CM}/one` }],
  ['an object that is not there', { path: `${CM}/none` }],
  ['a resource that is not there', { path: `${NS}/nothings` }],
  ['objects by label', { path: `${CM}?labelSelector=a%3Db` }],
  ['objects by a bad label selector', { path: `${CM}?labelSelector=a%20b%20c` }, { onlyCode: "the text is that of Go's parser" }],
  ['objects by name', { path: `${CM}?fieldSelector=metadata.name%3Done` }],
  ['objects by a field that cannot be selected', { path: `${CM}?fieldSelector=data.a%3Db` }],
  [
    'a merge patch',
    { method: 'PATCH', path: `${CM}/one`, type: MERGE, body: { data: { a: null, c: 'd' }, metadata: { labels: { x: 'y' } } } },
  ],
  ['a merge patch of nothing that is there', { method: 'PATCH', path: `${CM}/none`, type: MERGE, body: {} }],
  ['a JSON patch', { method: 'PATCH', path: `${CM}/one`, type: JSON_PATCH, body: [{ op: 'add', path: '/data/e', value: 'f' }] }],
  [
    'a JSON patch whose test fails',
    { method: 'PATCH', path: `${CM}/one`, type: JSON_PATCH, body: [{ op: 'test', path: '/data/e', value: 'x' }] },
    { onlyCode: 'the text is that of a library' },
  ],
  ['a strategic patch', { method: 'PATCH', path: `${CM}/one`, type: STRATEGIC, body: { data: { g: 'h' } } }],
  [
    'an update against a version that is old',
    { method: 'PUT', path: `${CM}/one`, body: { ...configMap('one'), metadata: { name: 'one', resourceVersion: '1' } } },
  ],
  ['an update of another name than the path', { method: 'PUT', path: `${CM}/one`, body: configMap('two') }],
  ['an update of what is not there', { method: 'PUT', path: `${CM}/none`, body: configMap('none') }],
  [
    'a wrong type in a built-in kind',
    { method: 'POST', path: CM, body: configMap('typed', { a: 1 }) },
    { onlyCode: "the text is that of Go's decoder" },
  ],
  [
    'a deletion with the wrong uid',
    { method: 'DELETE', path: `${CM}/one`, body: { preconditions: { uid: 'x' } } },
    { onlyCode: 'the text has the uid in it' },
  ],
  ['a deletion', { method: 'DELETE', path: `${CM}/one` }],
  ['a deletion of what is gone', { method: 'DELETE', path: `${CM}/one` }],
  ['a Pod with its defaults', { method: 'POST', path: POD, body: pod('p1') }],
  [
    'a Pod without containers',
    { method: 'POST', path: POD, body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p2' }, spec: { containers: [] } } },
  ],
  [
    'a Pod with a bad restart policy',
    { method: 'POST', path: POD, body: pod('p3', { restartPolicy: 'Sometimes' }) },
    { onlyCode: 'the words are in another order' },
  ],
  [
    'a change to the spec of a Pod',
    { method: 'PATCH', path: `${POD}/p1`, type: MERGE, body: { spec: { hostname: 'other' } } },
    { onlyCode: 'the text prints the difference as Go does' },
  ],
  [
    'containers merged by name',
    { method: 'PATCH', path: `${POD}/p1`, type: STRATEGIC, body: { spec: { containers: [{ name: 'main', image: 'example:2' }] } } },
  ],
  [
    'a status written through its own path',
    { method: 'PATCH', path: `${POD}/p1/status`, type: MERGE, body: { status: { message: 'hello' }, spec: { hostname: 'ignored' } } },
  ],
  ['Pods by node', { path: `${POD}?fieldSelector=spec.nodeName%3Dn1` }],
  [
    'a Pod that was never placed goes at once',
    { method: 'DELETE', path: `${POD}/p1` },
    { onlyCode: 'an object that is gone has no deletion grace' },
  ],
  [
    'a CRD',
    { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: crd },
    { onlyCode: 'conditions come later on the real one' },
  ],
  [
    'a CRD that is not structural',
    {
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      body: {
        ...crd,
        metadata: { name: 'things.ex.io' },
        spec: {
          ...crd.spec,
          names: { plural: 'things', kind: 'Thing' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }],
        },
      },
    },
    { onlyCode: 'the real one names a field of its internal type' },
  ],
  ['a custom resource with its defaults', { method: 'POST', path: WIDGETS, body: widget('w', { size: 5 }) }],
  ['a value above the maximum', { method: 'POST', path: WIDGETS, body: widget('big', { size: 500 }) }],
  ['a required field is missing', { method: 'POST', path: WIDGETS, body: widget('none', {}) }],
  ['a word that is not in the list', { method: 'POST', path: WIDGETS, body: widget('blue', { size: 1, color: 'blue' }) }],
  ['a wrong type in a custom resource', { method: 'POST', path: WIDGETS, body: widget('typed', { size: 'x' }) }],
  [
    'several mistakes at once',
    { method: 'POST', path: WIDGETS, body: widget('many', { size: 500, color: 'blue' }) },
    { onlyCode: 'the real one names them in any order' },
  ],
  ['an unknown field of a custom resource is pruned', { method: 'POST', path: WIDGETS, body: widget('pruned', { size: 1, wrong: true }) }],
  [
    'an unknown field of a custom resource, strict',
    { method: 'POST', path: `${WIDGETS}?fieldValidation=Strict`, body: widget('strict', { size: 1, wrong: true }) },
  ],
  ['null for a field with a default', { method: 'POST', path: WIDGETS, body: widget('null', { size: 1, replicas: null }) }],
  [
    'an update without a version',
    { method: 'PUT', path: `${WIDGETS}/w`, body: widget('w', { size: 6 }) },
    { onlyCode: 'the real one names the plural as the kind' },
  ],
  [
    'a strategic patch of a custom resource',
    { method: 'PATCH', path: `${WIDGETS}/w`, type: STRATEGIC, body: { spec: { size: 6 } } },
    { onlyCode: 'server-side apply is not there yet' },
  ],
  [
    'status and spec in one patch of the object',
    { method: 'PATCH', path: `${WIDGETS}/w`, type: MERGE, body: { spec: { size: 7 }, status: { n: 1 } } },
  ],
  [
    'status and spec in one patch of the status',
    { method: 'PATCH', path: `${WIDGETS}/w/status`, type: MERGE, body: { spec: { size: 8 }, status: { n: 2 } } },
  ],
  ['the scale of a custom resource', { path: `${WIDGETS}/w/scale` }],
  ['a scale is changed', { method: 'PATCH', path: `${WIDGETS}/w/scale`, type: MERGE, body: { spec: { replicas: 3 } } }],
  ['custom resources as a table', { path: WIDGETS, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }],
  ['custom resources as metadata', { path: WIDGETS, accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }],
  ['an answer in a form nobody knows', { path: WIDGETS, accept: 'text/strange' }, { onlyCode: 'the list of known types is another' }],
  ['a finalizer keeps the object', { method: 'PATCH', path: `${WIDGETS}/w`, type: MERGE, body: { metadata: { finalizers: ['ex.io/f'] } } }],
  ['a deletion that waits', { method: 'DELETE', path: `${WIDGETS}/w` }],
  [
    'a finalizer cannot be added any more',
    { method: 'PATCH', path: `${WIDGETS}/w`, type: MERGE, body: { metadata: { finalizers: ['ex.io/f', 'ex.io/g'] } } },
    { onlyCode: 'the real one prints a Go value, twice' },
  ],
  ['the last finalizer goes', { method: 'PATCH', path: `${WIDGETS}/w`, type: MERGE, body: { metadata: { finalizers: null } } }],
  ['and the object with it', { path: `${WIDGETS}/w` }],
  ['all of a kind are deleted', { method: 'DELETE', path: WIDGETS }],
  ['a method that is not allowed', { method: 'POST', path: `${CM}/one`, body: configMap('one') }],
  ['a watch with a selector that cannot be', { path: `${CM}?watch=true&fieldSelector=x%3Dy` }],
  ['initial events without the match', { path: `${CM}?watch=true&sendInitialEvents=true` }],
  ['the groups', { path: '/apis/ex.io/v1' }, { onlyCode: 'no storageVersionHash' }],
];

describe('the same requests get the same answers as from a real Kubernetes', { skip: kubernetesSkipReason() }, () => {
  let servers: TwoServers;
  before(async () => {
    servers = await TwoServers.start();
  });
  after(async () => {
    await servers?.[Symbol.asyncDispose]();
  });

  for (const [name, asked, difference] of REQUESTS) {
    test(difference?.onlyCode ? `${name} (code only: ${difference.onlyCode})` : name, async () => {
      const [{ raw: _real, ...real }, { raw: _ours, ...ours }] = [await servers.ask('real', asked), await servers.ask('ours', asked)];
      if (asked.path.endsWith('/customresourcedefinitions')) await servers.definitionsAreServed();
      assert.deepEqual(difference?.onlyCode ? ours.code : ours, difference?.onlyCode ? real.code : real);
    });
  }
});
