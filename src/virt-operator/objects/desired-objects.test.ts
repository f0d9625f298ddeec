import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../api/meta.ts';
import { desiredObjects } from './desired-objects.ts';
import { marked } from './marks.ts';

const AGGREGATED = 'rbac.authorization.k8s.io/aggregate-to-view';
const role: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'kubevirt.io:view', labels: { 'kubevirt.io': '', [AGGREGATED]: 'true' } },
};
const desired = (hasNoAggregation: boolean) => {
  const options = {
    namespace: 'kubevirt',
    images: { components: 'c', launcher: 'l', importer: 'i', tools: 't' },
    version: 'v1',
    hasNoAggregation,
  };
  const found = desiredObjects({ manifests: [marked(role)], options, certificates: [], authorities: '' });
  return found.find(({ metadata }) => metadata.name === role.metadata.name);
};

test('a component that is customized is seen to be another one', () => {
  const options = { namespace: 'kubevirt', images: { components: 'c', launcher: 'l', importer: 'i', tools: 't' }, version: 'v1' };
  const state = { manifests: [], options, certificates: [], authorities: '' };
  const patches = [
    { resourceName: 'virt-handler', resourceType: 'daemonset', type: 'merge' as const, patch: '{"spec":{"minReadySeconds":7}}' },
  ];
  const handlers = [desiredObjects(state), desiredObjects({ ...state, customize: { patches } })].map((objects) =>
    objects.find(({ metadata }) => metadata.name === 'virt-handler'),
  );
  const [usual, customized] = handlers.map((object) => object?.metadata.annotations?.['operator.kubevirt.io/hash']);
  assert.notEqual(customized, usual);
  assert.equal((handlers[1] as { spec?: { minReadySeconds?: number } } | undefined)?.spec?.minReadySeconds, 7);
});

test('our roles are added to those of Kubernetes, unless they are to be bound by hand', () => {
  const [usual, manual] = [desired(false), desired(true)];
  assert.equal(usual?.metadata.labels?.[AGGREGATED], 'true');
  assert.deepEqual(Object.keys(manual?.metadata.labels ?? {}), ['kubevirt.io', 'app.kubernetes.io/managed-by']);
  const hash = 'operator.kubevirt.io/hash';
  assert.notEqual(manual?.metadata.annotations?.[hash], usual?.metadata.annotations?.[hash], 'it is seen to be another one');
});
