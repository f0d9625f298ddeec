import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../api/meta.ts';
import { customizeObject, unusedPatch } from './customize-object.ts';

const api = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'virt-api', namespace: 'kubevirt', labels: { a: 'b' } },
  spec: {
    replicas: 2,
    template: {
      spec: { containers: [{ name: 'virt-api', args: ['--port=8443'], env: [{ name: 'A', value: '1' }] }], tolerations: [{ key: 'x' }] },
    },
  },
} as KubeObject;

const patched = (type: 'json' | 'merge' | 'strategic', patch: unknown, resourceName = 'virt-api', resourceType = 'Deployment') =>
  customizeObject(api, { patches: [{ resourceName, resourceType, type, patch: JSON.stringify(patch) }] }) as typeof api & {
    spec: { replicas: number; template: { spec: { containers: object[]; tolerations?: object[] } } };
  };
const podOf = ({ spec }: ReturnType<typeof patched>) => spec.template.spec;

test('a strategic patch merges containers and variables by their names, and replaces lists without names', () => {
  const container = { name: 'virt-api', resources: { limits: { memory: '1Gi' } }, env: [{ name: 'B', value: '2' }] };
  const pod = podOf(patched('strategic', { spec: { template: { spec: { containers: [container, { name: 'side' }], tolerations: [] } } } }));
  assert.deepEqual(pod, {
    containers: [
      {
        ...container,
        args: ['--port=8443'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
      { name: 'side' },
    ],
    tolerations: [],
  });
});

test('a strategic patch removes what it says is to go', () => {
  const change = { containers: [{ name: 'virt-api', $patch: 'delete' }], tolerations: null };
  assert.deepEqual(podOf(patched('strategic', { spec: { template: { spec: change } } })), { containers: [] });
  const labels = { $patch: 'replace', c: 'd' };
  assert.deepEqual(patched('strategic', { metadata: { labels } }).metadata.labels, { c: 'd' });
});

test('patches of the types merge and json do what their standards say', () => {
  assert.equal(patched('merge', { spec: { replicas: 5 } }).spec.replicas, 5);
  assert.equal(patched('json', [{ op: 'replace', path: '/spec/replicas', value: 7 }]).spec.replicas, 7);
});

test('a patch is meant by kind, in any case, and by name or *', () => {
  assert.equal(patched('merge', { spec: { replicas: 5 } }, '*', 'deployments').spec.replicas, 5);
  assert.equal(patched('merge', { spec: { replicas: 5 } }, 'virt-controller').spec.replicas, 2);
  assert.equal(patched('merge', { spec: { replicas: 5 } }, 'virt-api', 'DaemonSet').spec.replicas, 2);
});

const REFUSED: readonly [name: string, type: 'json' | 'merge' | 'strategic', patch: unknown, sentence: RegExp][] = [
  [
    'another name',
    'merge',
    { metadata: { name: 'x' } },
    /patches\[0\] cannot be applied to Deployment virt-api: .*cannot change apiVersion/,
  ],
  ['nothing', 'json', [{ op: 'replace', path: '', value: null }], /cannot change apiVersion/],
  ['a place that is not there', 'json', [{ op: 'remove', path: '/spec/nowhere' }], /cannot be applied to Deployment virt-api/],
  ['no operations', 'json', {}, /list of operations/],
  ['a list', 'merge', [], /is an object/],
  ['an unknown directive', 'strategic', { spec: { '$setElementOrder/x': [] } }, /\$setElementOrder\/x is not supported/],
];
for (const [name, type, patch, sentence] of REFUSED)
  test(`a ${type} patch to ${name} is refused with a sentence`, () => assert.throws(() => patched(type, patch), sentence));

test('flags are given behind those that the component has', () => {
  const { spec } = customizeObject(api, { flags: { api: { v: '5' }, handler: { v: '9' } } }) as ReturnType<typeof patched>;
  assert.deepEqual((spec.template.spec.containers[0] as { args: string[] }).args, ['--port=8443', '--v=5']);
});

test('an object that nobody speaks of is the very same, and a patch for none is told', () => {
  assert.equal(customizeObject(api, {}), api);
  const patch = { resourceName: 'virt-apu', resourceType: 'Deployment', type: 'merge', patch: '{}' } as const;
  assert.equal(
    unusedPatch([api], { patches: [patch] }),
    'spec.customizeComponents.patches[0]: there is no Deployment virt-apu among the objects of the installation',
  );
  assert.equal(unusedPatch([api], { patches: [{ ...patch, resourceName: '*' }] }), undefined);
});
