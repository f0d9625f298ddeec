import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NODES, type Node } from '../../../api/core/node.ts';
import { PODS } from '../../../api/core/pod.ts';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const AT = '/api/v1/namespaces/default/pods';
const EXEC = 'exec?command=true&stdout=true';

async function withPods(t: TestContext): Promise<TestServer> {
  const api = await startTestServer();
  t.after(() => api.close());
  await api.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } } as Node);
  const pods = { waiting: {}, placed: { nodeName: 'n1' }, lost: { nodeName: 'nowhere' } };
  for (const [name, spec] of Object.entries(pods)) {
    const containers = [{ name: 'c', image: 'i' }];
    await api.client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: { containers, ...spec },
    });
  }
  return api;
}

/** What a connection that leaves HTTP is told; 'on to the node' when it is passed on. */
async function upgraded({ server }: TestServer, path: string, method = 'POST'): Promise<string> {
  let told = 'nothing';
  const forward = {
    toService: async () => {},
    toPod: async () => {
      told = 'on to the node';
    },
  };
  const asked = { request: { method, url: `${AT}/${path}` }, identity: { user: 'admin', groups: ['system:masters'] } };
  await server.upgrade({ ...asked, socket: { once: () => {}, destroy: () => {} } }, forward).catch(({ message }) => {
    told = message;
  });
  return told;
}

test('a stream goes on to the node of its Pod, or is refused before a node is asked', async (t) => {
  const api = await withPods(t);
  const cases = [
    [`placed/${EXEC}`, 'on to the node'],
    [`placed/${EXEC}&container=x`, 'container x is not valid for pod placed'],
    ['placed/portforward?container=x', 'on to the node'],
    [`waiting/${EXEC}`, 'pod waiting does not have a host assigned'],
    [`lost/${EXEC}`, 'pods "nowhere" not found'],
    [`none/${EXEC}`, 'pods "none" not found'],
  ] as const;
  const told = await Promise.all(cases.map(([path]) => upgraded(api, path)));
  assert.deepEqual(
    told,
    cases.map(([, expected]) => expected),
  );
});

test('only GET and POST open a stream', async (t) => {
  const api = await withPods(t);
  assert.match(await upgraded(api, `placed/${EXEC}`, 'PUT'), /does not allow this method/);
});

test('a request that stays in HTTP is told what is wrong first, and then that it has to leave', async (t) => {
  const api = await withPods(t);
  const messages = await Promise.all(
    ['waiting', 'placed'].map(async (name) => ((await (await api.fetch(`${AT}/${name}/${EXEC}`)).json()) as { message: string }).message),
  );
  assert.deepEqual(messages, ['pod waiting does not have a host assigned', 'Upgrade request required']);
});

test('the log of a Pod that no node has is empty', async (t) => {
  const api = await withPods(t);
  const { status } = await api.fetch(`${AT}/waiting/log`);
  assert.equal(status, 204);
});
