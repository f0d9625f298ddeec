import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS } from '../../../api/core/pod.ts';
import { ApiError } from '../../../base/errors.ts';
import { startTestServer } from '../test-server.testing.ts';

const repeat = <T>(count: number, item: (index: number) => T) => Array.from({ length: count }, (_, index) => item(index));

test('rules about where a Pod may go are few, however they are written', async (t) => {
  const { client, close } = await startTestServer();
  t.after(close);
  const add = async (spec: object): Promise<string> => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'p-', name: '', namespace: 'default' } } as const;
    try {
      await client.create(PODS, { ...pod, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
      return 'ok';
    } catch (error) {
      assert.ok(error instanceof ApiError);
      return error.details?.causes?.map(({ field }) => field).join() ?? error.message;
    }
  };
  const term = (values: readonly string[]) => ({
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values }] },
  });
  const apart = (terms: readonly object[]) => ({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } });
  const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'web' } } };
  assert.equal(await add({ affinity: apart(repeat(20, (at) => term([`a${at}`]))), topologySpreadConstraints: [spread] }), 'ok');
  assert.equal(await add({ affinity: apart(repeat(200, () => term(['a']))) }), 'spec.affinity');
  assert.equal(await add({ affinity: apart([term(repeat(2_000, (at) => `a${at}`))]) }), 'spec.affinity');
  const spreads = repeat(100, (at) => ({ ...spread, topologyKey: `zone-${at}` }));
  assert.equal(await add({ topologySpreadConstraints: spreads }), 'spec.topologySpreadConstraints');
});
