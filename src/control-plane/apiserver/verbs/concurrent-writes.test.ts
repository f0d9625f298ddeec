import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const ROUNDS = 1_000;

describe('many writers at once', { timeout: 120_000 }, () => {
  let api: TestServer;
  before(async () => {
    api = await startTestServer();
  });
  after(() => api.close());

  function send(method: string, path: string, body: object): Promise<Response> {
    return api.fetch(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  }

  test('of two clients that update one version of an object exactly one wins, the other gets 409, and no update is lost', async () => {
    let map = await (
      await send('POST', MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { count: '0' } })
    ).json();
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const next = { ...map, data: { count: String(Number(map.data.count) + 1) } };
      const answers = await Promise.all(['ada', 'bob'].map((by) => send('PUT', `${MAPS}/one`, { ...next, data: { ...next.data, by } })));
      outcomes.add(
        answers
          .map(({ status }) => status)
          .sort()
          .join(),
      );
      map = await answers.find(({ status }) => status === 200)?.json();
    }
    const stored = await (await api.fetch(`${MAPS}/one`)).json();
    assert.deepEqual([[...outcomes], stored.data.count], [['200,409'], String(ROUNDS)]);
  });

  test('a thousand creates with generateName at once are a thousand objects', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'many-' } };
    const answers = await Promise.all(Array.from({ length: ROUNDS }, () => send('POST', MAPS, map)));
    const names = await Promise.all(answers.map(async (answer) => (await answer.json()).metadata.name));
    assert.deepEqual([[...new Set(answers.map(({ status }) => status))], new Set(names).size], [[201], ROUNDS]);
    const { items } = await (await api.fetch(MAPS)).json();
    assert.equal(items.filter(({ metadata }: { metadata: { name: string } }) => names.includes(metadata.name)).length, ROUNDS);
  });
});
