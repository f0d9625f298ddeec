/** Who may do what on a running cluster: over TLS, through the API server and virt-api, and with kubectl. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { ask } from '../../src/control-plane/apiserver/transport/tls.testing.ts';
import { ROUTES } from '../../src/virt-api/routes.ts';
import { EmbeddedCluster } from './harness.ts';

const SUBRESOURCES = '/apis/subresources.kubevirt.io/v1/namespaces/t1';
const FORGED = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"system:serviceaccount:t1:bot"}').toString('base64url')}.`;

type Credentials = { readonly cert?: string; readonly key?: string; readonly headers?: Record<string, string | string[]> };

type Row = readonly [method: 'GET' | 'PUT' | 'WS', path: string];

/** What is no subresource of one object, and what does not exist. */
const BESIDE: readonly Row[] = [
  ['GET', '../../version'],
  ['GET', '../../healthz'],
  ['GET', '../../guestfs'],
  ['PUT', 'expand-vm-spec'],
  ['PUT', 'virtualmachines/none/unheard-of'],
  ['PUT', 'virtualmachines/none/start/deeper'],
  ['PUT', 'virtualmachineinstances/none/vnc/screenshot'],
];
/** anonymous, view, edit, admin, admin of another namespace; 404: allowed, but there is no such machine. A new subresource needs a line here. */
const VIEWERS = '403 404 404 404 403';
const EDITORS = '403 403 404 404 403';
const ADMINS = '403 403 403 404 403';
const NOBODY = '403 403 403 403 403';
const EXPECTED: Readonly<Record<string, string>> = {
  'GET virtualmachines/none/expand-spec': VIEWERS,
  'GET virtualmachineinstances/none/guestosinfo': VIEWERS,
  'GET virtualmachineinstances/none/userlist': VIEWERS,
  'GET virtualmachineinstances/none/filesystemlist': VIEWERS,
  'GET virtualmachineinstances/none/usage': VIEWERS,
  'GET virtualmachineinstances/none/usagehistory': VIEWERS,
  'PUT virtualmachines/none/start': EDITORS,
  'PUT virtualmachines/none/stop': EDITORS,
  'PUT virtualmachines/none/restart': EDITORS,
  'WS virtualmachines/none/portforward/80/tcp': EDITORS,
  'GET virtualmachines/none/logs?previous=true': EDITORS,
  'WS virtualmachineinstances/none/console': EDITORS,
  'WS virtualmachineinstances/none/vnc': EDITORS,
  'WS virtualmachineinstances/none/portforward/80/tcp': EDITORS,
  'PUT virtualmachineinstances/none/pause': EDITORS,
  'PUT virtualmachineinstances/none/unpause': EDITORS,
  'PUT virtualmachineinstances/none/reset': EDITORS,
  'PUT virtualmachineinstances/none/softreboot': EDITORS,
  'PUT virtualmachineinstances/none/freeze': EDITORS,
  'PUT virtualmachineinstances/none/unfreeze': EDITORS,
  'PUT virtualmachineinstances/none/exec': EDITORS,
  'PUT offlinevirtualmachines/none/start': EDITORS,
  'PUT offlinevirtualmachines/none/stop': EDITORS,
  'PUT offlinevirtualmachines/none/restart': EDITORS,
  'PUT virtualmachineinstanceconfigs/none/start': EDITORS,
  'GET virtualmachineinstanceconfigs/none/start': EDITORS,
  'PUT virtualmachineinstanceconfigs/none/stop': EDITORS,
  'GET virtualmachineinstanceconfigs/none/stop': EDITORS,
  'GET virtualmachineinstances/none/vnc/screenshot': ADMINS,
  'GET ../../version': '403 200 200 200 200',
  'GET ../../healthz': NOBODY, // open at virt-api itself, for its probes
  'GET ../../guestfs': '403 400 400 400 400', // everybody with a name may ask, and there is no such image
  'PUT virtualmachines/none/suspend': EDITORS,
  'PUT virtualmachines/none/resume': EDITORS,
  'PUT virtualmachines/none/memorydump': EDITORS,
  'PUT virtualmachines/none/removememorydump': EDITORS,
  'GET virtualmachineexports/none/volumes/80/tcp': EDITORS,
  'GET virtualmachineexports/none/external/80/tcp': EDITORS,
  'GET virtualmachineexports/none/internal/80/tcp': EDITORS,
  'GET persistentvolumeclaims/none/upload': EDITORS,
  'PUT persistentvolumeclaims/none/upload': EDITORS,
  'PUT virtualmachines/none/addvolume': EDITORS,
  'PUT virtualmachines/none/removevolume': EDITORS,
  'PUT virtualmachines/none/evacuate/cancel': EDITORS,
  'PUT virtualmachineinstances/none/addvolume': EDITORS,
  'PUT virtualmachineinstances/none/removevolume': EDITORS,
  'PUT virtualmachineinstances/none/evacuate/cancel': EDITORS,
  'PUT virtualmachines/none/migrate': NOBODY, // the right is there, and nobody has it unless it is given
  // the body is empty, so whoever may ask is told that it is no machine
  'PUT expand-vm-spec': '403 400 400 400 403',
  'PUT virtualmachines/none/unheard-of': NOBODY,
  'PUT virtualmachines/none/start/deeper': EDITORS,
  'PUT virtualmachineinstances/none/vnc/screenshot': NOBODY,
};

function doorOf(cluster: EmbeddedCluster) {
  const file = (name: string) => readFileSync(join(cluster.home, 'pki', name), 'utf8');
  const { port } = JSON.parse(readFileSync(join(cluster.home, 'run/embedded.json'), 'utf8')) as { port: number };
  const ca = file('ca.crt');
  const admin = { cert: file('admin.crt'), key: file('admin.key') };
  return {
    /** The administrator, acting as somebody else. */
    as: (user: string): Credentials => ({ ...admin, headers: { 'Impersonate-User': user } }),
    request: (method: string, path: string, credentials: Credentials = {}) => ask({ port, ca, method, path, ...credentials }),
    /** The status that refuses a WebSocket. No machine is there, so none is ever accepted. */
    async webSocket(path: string, { headers, ...tls }: Credentials = {}, subprotocols: string[] = []): Promise<number> {
      const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, subprotocols, {
        ca,
        headers: headers as Record<string, string>,
        ...tls,
      });
      socket.on('error', () => {});
      const [, response] = await once(socket, 'unexpected-response');
      response.resume();
      return response.statusCode;
    },
  };
}

test('who may do what', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const door = doorOf(cluster);
  for (const namespace of ['t1', 't2']) await cluster.must('kubectl', ['create', 'namespace', namespace]);
  for (const role of ['view', 'edit', 'admin']) {
    await cluster.must('kubectl', ['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}`, '-n', 't1']);
  }
  await cluster.must('kubectl', ['create', 'rolebinding', 'admin', '--clusterrole=admin', '--user=neighbour', '-n', 't2']);

  await t.test('each subresource, for each kind of caller', async () => {
    const statusesOf = async ([method, path]: Row) => {
      const askAs = (credentials: Credentials) =>
        method === 'WS'
          ? door.webSocket(`${SUBRESOURCES}/${path}`, credentials)
          : door.request(method, `${SUBRESOURCES}/${path}`, credentials).then(({ status }) => status);
      const statuses = [await askAs({})];
      for (const user of ['view', 'edit', 'admin', 'neighbour']) statuses.push(await askAs(door.as(user)));
      return statuses.join(' ');
    };
    const rows = ROUTES.flatMap((route): Row[] => {
      const path = `${route.resource}/none/${route.subresource}${route.takesRest ? '/80/tcp' : ''}${route.subresource === 'logs' ? '?previous=true' : ''}`;
      const row: Row = ['open' in route ? 'WS' : route.method, path];
      return route.verbs.length > 1 ? [row, ['GET', path]] : [row];
    });
    const answers: Record<string, string> = {};
    for (const row of [...rows, ...BESIDE]) answers[row.join(' ')] = await statusesOf(row);
    assert.deepEqual(answers, EXPECTED);
  });

  await t.test('the older version of the group has the same subresources and the same answers', async () => {
    const names = async (version: string) => {
      const list = JSON.parse(await cluster.must('kubectl', ['get', '--raw', `/apis/subresources.kubevirt.io/${version}`]));
      return list.resources.map(({ name }: { name: string }) => name).sort();
    };
    const ours = [...ROUTES.map(({ resource, subresource }) => `${resource}/${subresource}`), 'expand-vm-spec'].sort();
    assert.deepEqual([await names('v1'), await names('v1alpha3')], [ours, ours]);
    const older = `${SUBRESOURCES.replace('/v1/', '/v1alpha3/')}/virtualmachines/none/start`;
    const statuses = ['view', 'edit', 'neighbour'].map(async (user) => (await door.request('PUT', older, door.as(user))).status);
    assert.deepEqual(await Promise.all(statuses), [403, 404, 403]);
  });

  await t.test('the right to migrate is given on purpose, and is not that of an admin', async () => {
    await cluster.must('kubectl', ['create', 'rolebinding', 'mover', '--clusterrole=kubevirt.io:migrate', '--user=mover', '-n', 't1']);
    const migrate = async (user: string) =>
      (await door.request('PUT', `${SUBRESOURCES}/virtualmachines/none/migrate`, door.as(user))).status;
    assert.deepEqual([await migrate('admin'), await migrate('mover')], [403, 404]);
  });

  await t.test('a token opens the door for its service account, until that is gone', async () => {
    await cluster.must('kubectl', ['create', 'serviceaccount', 'bot', '-n', 't1']);
    await cluster.must('kubectl', ['create', 'rolebinding', 'bot', '--clusterrole=edit', '--serviceaccount=t1:bot', '-n', 't1']);
    const token = (await cluster.must('kubectl', ['create', 'token', 'bot', '-n', 't1', '--duration=10m'])).trim();
    const bearer = (text: string): Credentials => ({ headers: { authorization: `Bearer ${text}` } });
    const list = async (credentials: Credentials) => (await door.request('GET', '/api/v1/namespaces/t1/pods', credentials)).status;
    const start = async (credentials: Credentials) =>
      (await door.request('PUT', `${SUBRESOURCES}/virtualmachines/none/start`, credentials)).status;
    const console = (text: string) =>
      door.webSocket(`${SUBRESOURCES}/virtualmachineinstances/none/console`, {}, [
        `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString('base64url')}`,
        'plain.kubevirt.io',
      ]);
    assert.deepEqual([await list(bearer(token)), await start(bearer(token)), await console(token)], [200, 404, 404]);
    assert.deepEqual([await list(bearer(FORGED)), await list(bearer(`${token}x`)), await console(FORGED)], [401, 401, 401]);
    const vault = (await cluster.must('kubectl', ['create', 'token', 'bot', '-n', 't1', '--audience=vault'])).trim();
    assert.equal(await list(bearer(vault)), 401);
    await cluster.must('kubectl', ['delete', 'serviceaccount', 'bot', '-n', 't1']);
    assert.deepEqual([await list(bearer(token)), await console(token)], [401, 401]);
  });

  await t.test('claims in headers open nothing', async () => {
    const headers = { 'X-Remote-User': 'kubernetes-admin', 'X-Remote-Group': 'system:masters', 'Impersonate-User': 'kubernetes-admin' };
    const { 'Impersonate-User': _, ...remote } = headers;
    assert.equal((await door.request('GET', '/api/v1/secrets', { headers: remote })).status, 403);
    assert.equal((await door.request('GET', '/api/v1/secrets', { headers })).status, 403);
    const viewer = door.as('view');
    assert.equal((await door.request('GET', '/api/v1/secrets', { ...viewer, headers: { ...viewer.headers, ...remote } })).status, 403);
  });

  await t.test('kubectl tells who we are, what we may, and what is refused', async () => {
    const canI = async () =>
      (await cluster.kubectl(['auth', 'can-i', 'create', 'pods', '--as=system:serviceaccount:t2:default', '-n', 't2'])).stdout;
    assert.match(await canI(), /^no/);
    await cluster.must('kubectl', ['create', 'rolebinding', 'e', '--clusterrole=edit', '--serviceaccount=t2:default', '-n', 't2']);
    assert.match(await canI(), /^yes/);
    const { stderr } = await cluster.kubectl(['--as=bob', 'get', 'secrets', '-n', 't1']);
    assert.match(stderr, /User "bob" cannot list resource "secrets" in API group "" in the namespace "t1"/);
    assert.match(await cluster.must('kubectl', ['get', 'clusterrole', 'view', '-o', 'yaml']), /virtualmachineinstances/);
    await cluster.must('kubectl', ['create', 'clusterrole', 'maker', '--verb=create', '--resource=clusterroles']);
    await cluster.must('kubectl', ['create', 'clusterrolebinding', 'maker', '--clusterrole=maker', '--user=bob']);
    const refused = await cluster.kubectl(['--as=bob', 'create', 'clusterrole', 'all', '--verb=*', '--resource=*.*']);
    assert.match(refused.stderr, /is attempting to grant RBAC permissions not currently held/);
  });
});
