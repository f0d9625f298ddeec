import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { CLUSTER_ROLES } from './access/rights.testing.ts';
import { createApiServer } from './create-api-server.ts';
import { startTestServer } from './test-server.testing.ts';

test('a start mends the default roles, keeps what was added, and leaves alone who asks for it', async (t) => {
  const { client, store, close } = await startTestServer();
  t.after(close);
  const names = ['system:discovery', 'system:basic-user', 'view'];
  const extra = { nonResourceURLs: ['/extra'], verbs: ['get'] };
  const others = [{ apiGroups: ['demo.io'], resources: ['demos'], verbs: ['get'] }];
  await client.patch(CLUSTER_ROLES, { name: 'system:discovery' }, { rules: [extra] });
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
  await client.patch(CLUSTER_ROLES, { name: 'system:basic-user' }, { rules: [], metadata: { annotations } });
  await client.patch(CLUSTER_ROLES, { name: 'view' }, { rules: others });

  const second = await createApiServer({ store, clock: systemClock, log: silentLogger });
  const revision = store.revision;
  const third = await createApiServer({ store, clock: systemClock, log: silentLogger });
  for (const server of [second, third]) server.close();
  assert.equal(store.revision, revision, 'nothing is left to mend');
  const rules = await Promise.all(names.map(async (name) => (await client.get(CLUSTER_ROLES, { name }))?.['rules'] as object[]));
  assert.deepEqual([rules[0]?.length, rules[0]?.[0], rules[1]?.length ?? 0, rules[2]], [2, extra, 0, others]);
});
