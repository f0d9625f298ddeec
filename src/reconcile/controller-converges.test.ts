import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS, type ConfigMap } from '../api/core/configmap.ts';
import { EVENTS } from '../api/core/event.ts';
import { SECRETS, type Secret } from '../api/core/secret.ts';
import { controllerOf, controllerReferenceTo, keyOf, refOf } from '../api/meta.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { startCache } from '../client/cache.ts';
import { startTestServer } from '../control-plane/apiserver/test-server.testing.ts';
import { until } from '../testing/until.ts';
import { runController } from './controller.ts';
import type { Decision } from './decision.ts';
import { changesOf } from './source.ts';

type Observed = { readonly wish: ConfigMap; readonly secrets: readonly Secret[] };

/** Keeps as many Secrets as a ConfigMap asks for, one per look, so that every look depends on having seen the one before. */
function decide({ wish, secrets }: Observed): Decision {
  const wanted = Number(wish.data?.['count'] ?? 0);
  const [first] = secrets;
  if (first && secrets.length > wanted) return { actions: [{ do: 'delete', target: refOf(first), because: 'too many' }] };
  if (secrets.length === wanted) return { actions: [] };
  const metadata = { name: '', generateName: 's-', namespace: wish.metadata.namespace, ownerReferences: [controllerReferenceTo(wish)] };
  const event = { type: 'Normal', reason: 'SuccessfulCreate', message: `Made one more than ${secrets.length}` } as const;
  return { actions: [{ do: 'create', object: { apiVersion: 'v1', kind: 'Secret', metadata }, because: 'too few', event }] };
}

async function start(t: TestContext) {
  const { client, close } = await startTestServer();
  const stop = new AbortController();
  const common = { client, clock: systemClock, log: silentLogger, signal: stop.signal };
  const wishes = startCache({ ...common, resource: CONFIG_MAPS, namespace: 'default', labelSelector: 'wish' });
  const ownerKey = (secret: Secret) => (controllerOf(secret) ? [`${secret.metadata.namespace}/${controllerOf(secret)?.name}`] : []);
  const secrets = startCache({ ...common, resource: SECRETS, indexes: { owner: ownerKey } });
  const ended = runController<Observed>({
    ...common,
    name: 'wish-controller',
    triggers: [changesOf(wishes, ({ metadata }) => [keyOf(metadata)]), changesOf(secrets, ownerKey)],
    observe: (key) => {
      const wish = wishes.get(key);
      return wish && { wish, secrets: secrets.byIndex('owner', key) };
    },
    decide,
    subject: ({ wish }) => wish,
  });
  t.after(async () => {
    stop.abort();
    await ended;
    close();
  });
  return { client, made: async () => (await client.list(SECRETS)).items.filter((secret) => controllerOf(secret)) };
}

function wish(name: string, count: number): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name, labels: { wish: '' } },
    data: { count: String(count) },
  };
}

test('many objects at once come to what they ask for, and never overshoot', async (t) => {
  const { client, made } = await start(t);
  const names = Array.from({ length: 10 }, (_, index) => `w${index}`);
  await Promise.all(names.map((name) => client.create(CONFIG_MAPS, wish(name, 4))));
  let most = 0;
  await until(async () => {
    const { length } = await made();
    most = Math.max(most, length);
    return length >= 40;
  }, 'forty secrets');
  await client.patch(CONFIG_MAPS, { namespace: 'default', name: 'w0' }, { data: { count: '1' } });
  await until(async () => (await made()).length === 37, 'three to go');
  assert.equal(most, 40);
  const countsOfOne = async () =>
    (await client.list(EVENTS)).items.filter(({ involvedObject }) => involvedObject.name === 'w1').map(({ count }) => count);
  await until(async () => (await countsOfOne()).length === 4, 'the events, which nobody waits for');
  assert.deepEqual(await countsOfOne(), [1, 1, 1, 1]);
});
