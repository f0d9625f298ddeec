import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { WebSocketServer } from 'ws';
import type { Pod } from '../api/core/pod.ts';
import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../api/kubevirt/configuration/cluster-configuration.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { type KeyPair, type Pki, VIRT_HANDLER_CLIENT_NAME } from '../base/node/pki.ts';
import { issueLeaf } from '../base/node/pki-issue.ts';
import type { WebServer } from '../base/node/web-server.ts';
import { createClient } from '../client/client.ts';
import type { Cluster } from '../client/node/kubeconfig.ts';
import { createTlsFetch } from '../client/node/tls-fetch.ts';
import { openWebSocket } from '../client/node/websocket.ts';
import { createServiceProxy, type ServiceProxy } from '../control-plane/apiserver/aggregation/service-proxy.ts';
import { listen } from '../control-plane/apiserver/transport/listen.ts';
import { ask, temporaryPki } from '../control-plane/apiserver/transport/tls.testing.ts';
import { vm, vmi } from '../testing/builders.ts';
import { fixedConfiguration } from '../testing/fixed-configuration.ts';
import { FakeApi } from './fake-api.testing.ts';
import { ROUTES } from './routes.ts';
import { startVirtApi, type VirtApi } from './start.ts';

const BASE = '/apis/subresources.kubevirt.io/v1';
const VM = `${BASE}/namespaces/default/virtualmachines/db`;
const CONSOLE = `${BASE}/namespaces/default/virtualmachineinstances/db/console`;

/** kubectl -> API server -> virt-api -> virt-handler, every connection a real one. */
describe('virt-api behind the API server', { timeout: 30_000 }, () => {
  const api = new FakeApi();
  const stop = new AbortController();
  const webSockets = new WebSocketServer({ noServer: true });
  let pki: Pki;
  let folder: string;
  let removePki: () => Promise<void>;
  let virtApi: VirtApi;
  let front: WebServer;
  let proxy: ServiceProxy;
  let handler: Server;
  let cluster: Cluster;

  before(async () => {
    ({ pki, folder, remove: removePki } = await temporaryPki());
    virtApi = await startVirtApi({
      client: api.client,
      pki,
      host: '127.0.0.1',
      port: 0,
      version: 'v1.2.3',
      clock: systemClock,
      log: silentLogger,
      signal: stop.signal,
    });
    proxy = createServiceProxy({
      resolveService: async () => ({ host: '127.0.0.1', port: virtApi.port }),
      frontProxy: () => pki.frontProxyClient,
      log: silentLogger,
    });
    const apiService = {
      metadata: { name: 'v1.subresources.kubevirt.io' },
      spec: { service: { namespace: 'kubevirt', name: 'virt-api' }, caBundle: Buffer.from(pki.kubevirtCa).toString('base64') },
    };
    front = await listen({
      handle: (request, identity) => proxy.proxyToService(apiService, request, identity),
      upgrade: (request, socket, head, identity) => proxy.proxyUpgrade(apiService, request, socket, head, identity),
      pki,
      port: 0,
      log: silentLogger,
    });
    cluster = { context: 'test', server: `https://127.0.0.1:${front.port}`, ca: pki.ca, ...pki.admin };
    handler = fakeHandler(pki, webSockets);
    handler.listen(0, '127.0.0.1');
    await once(handler, 'listening');
  });
  after(async () => {
    webSockets.close();
    proxy.close();
    await front.close();
    stop.abort();
    await virtApi.stopped;
    handler.close();
    handler.closeAllConnections();
    await removePki();
  });
  beforeEach(() => api.clear());

  const put = (path: string, body?: unknown) =>
    createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: 'test' }).request(path, {
      method: 'PUT',
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
  const given = (machine: VirtualMachine, instance?: VirtualMachineInstance) => {
    api.put('virtualmachines', machine);
    if (instance) api.put('virtualmachineinstances', instance);
  };
  const theVm = () => api.get<VirtualMachine>('virtualmachines', 'db');
  const theVmi = () => api.get<VirtualMachineInstance>('virtualmachineinstances', 'db');

  test('start answers 202 without a body and changes the machine', async () => {
    given(vm('Halted'));
    const response = await put(`${VM}/start`);
    assert.deepEqual([response.status, await response.text(), theVm()?.spec.runStrategy], [202, '', 'Always']);
  });

  test('the older version of the group works too, and so does YAML', async () => {
    given(vm('Halted'));
    assert.equal((await put(`${VM.replace('/v1/', '/v1alpha3/')}/start`, 'paused: true\n')).status, 202);
    assert.deepEqual(theVm()?.status?.stateChangeRequests, [{ action: 'Start', data: { paused: 'true' } }]);
  });

  test('a dry run changes nothing', async () => {
    given(vm('Always'), vmi('Running'));
    assert.equal((await put(`${VM}/stop`, { dryRun: ['All'], gracePeriod: 0 })).status, 202);
    assert.deepEqual([theVm()?.spec.runStrategy, theVmi()?.spec.terminationGracePeriodSeconds], ['Always', 5]);
  });

  test('stop with a grace period reaches the instance and the machine', async () => {
    given(vm('Always'), vmi('Running'));
    await put(`${VM}/stop`, { gracePeriod: 0 });
    assert.deepEqual([theVm()?.spec.runStrategy, theVmi()?.spec.terminationGracePeriodSeconds], ['Halted', 0]);
  });

  test('restart asks for a stop of this instance and then a start', async () => {
    given(vm('Always'), vmi('Running'));
    await put(`${VM}/restart`, { gracePeriodSeconds: 0 });
    assert.deepEqual(theVm()?.status?.stateChangeRequests, [{ action: 'Stop', uid: 'vmi-1' }, { action: 'Start' }]);
    assert.equal(theVmi()?.spec.terminationGracePeriodSeconds, 1);
  });

  test('a restart that fails gives the grace period back', async () => {
    given(vm('Always'), vmi('Running'));
    api.beforePatch = (path) => {
      if (path === 'virtualmachines/status') throw new Error('disk full');
    };
    await assert.rejects(put(`${VM}/restart`, { gracePeriodSeconds: 0 }), { code: 500 });
    assert.equal(theVmi()?.spec.terminationGracePeriodSeconds, 5);
  });

  test('a status written in between does not disturb', async () => {
    given(vm('Halted'));
    let rivals = 3;
    api.beforePatch = () => {
      if (rivals-- > 0) api.put('virtualmachines', { ...vm('Halted'), status: { printableStatus: 'Stopped' } } as VirtualMachine);
    };
    assert.equal((await put(`${VM}/start`)).status, 202);
    assert.equal(theVm()?.spec.runStrategy, 'Always');
  });

  test('of two starts at once the second is told that it came too late', async () => {
    given(vm('Halted'));
    const codes = await Promise.all(
      [1, 2].map(() =>
        put(`${VM}/start`).then(
          (response) => response.status,
          (error) => error.code,
        ),
      ),
    );
    assert.deepEqual(codes.toSorted(), [202, 409]);
  });

  const refusals: [string, string, unknown, number, () => void][] = [
    ['a machine that is not there', `${VM}/start`, undefined, 404, () => {}],
    ['a start while running', `${VM}/start`, undefined, 409, () => given(vm('Manual'), vmi('Running'))],
    ['a start of Always', `${VM}/start`, undefined, 409, () => given(vm('Always'))],
    ['a stop of what does not run', `${VM}/stop`, undefined, 409, () => given(vm('Halted'))],
    ['a negative grace period', `${VM}/stop`, { gracePeriod: -1 }, 400, () => given(vm('Always'))],
    ['a restart with a grace period', `${VM}/restart`, { gracePeriodSeconds: 5 }, 400, () => given(vm('Always'), vmi('Running'))],
    ['a restart of Halted', `${VM}/restart`, undefined, 409, () => given(vm('Halted'))],
    [
      'a restart during a restart',
      `${VM}/restart`,
      undefined,
      500,
      () => given(vm('Always', { stateChangeRequests: [{ action: 'Start' }] }), vmi('Running')),
    ],
    ['a body that is no object', `${VM}/start`, '[]', 400, () => given(vm('Halted'))],
    ['a body that is nothing at all', `${VM}/start`, 'a: [', 400, () => given(vm('Halted'))],
    ['a body without end', `${VM}/start`, JSON.stringify({ a: 'x'.repeat(1024 * 1024) }), 413, () => given(vm('Halted'))],
    ['an unknown kind of dry run', `${VM}/start`, { dryRun: ['Some'] }, 400, () => given(vm('Halted'))],
    ['an unknown subresource', `${VM}/start/now`, undefined, 404, () => given(vm('Halted'))],
    ['a verb on the console', CONSOLE, undefined, 405, () => {}],
  ];
  for (const [name, path, body, code, arrange] of refusals) {
    test(`${name} is refused with ${code}`, async () => {
      arrange();
      await assert.rejects(put(path, body), { name: 'ApiError', code });
    });
  }

  test('a refusal says what failed and why', async () => {
    given(vm('Always'));
    await assert.rejects(put(`${VM}/start`), {
      reason: 'Conflict',
      message: 'Cannot start VM default/db: Always does not support manual start requests',
    });
  });

  test('discovery lists what there is', async () => {
    const client = createClient({ fetch: createTlsFetch(cluster), baseUrl: cluster.server, userAgent: 'test' });
    const list = (await (await client.request(BASE)).json()) as { groupVersion: string; resources: { name: string; verbs: string[] }[] };
    const listed = list.resources.map(({ name, verbs }) => `${name} ${verbs}`);
    const missing = [
      'virtualmachines/start update',
      'virtualmachines/stop update',
      'virtualmachines/restart update',
      'virtualmachineinstances/console get',
      'virtualmachineinstances/pause update',
      'virtualmachineinstances/unpause update',
      'virtualmachineinstances/reset update',
      'virtualmachineinstances/softreboot update',
      'offlinevirtualmachines/start update',
      'offlinevirtualmachines/stop update',
      'offlinevirtualmachines/restart update',
      'virtualmachineinstanceconfigs/start get,update',
      'virtualmachineinstanceconfigs/stop get,update',
    ].filter((each) => !listed.includes(each));
    assert.deepEqual([list.groupVersion, missing], ['subresources.kubevirt.io/v1', []]);
    const { gitVersion } = (await (await client.request(`${BASE}/version`)).json()) as { gitVersion: string };
    assert.equal(gitVersion, 'v1.2.3');
    for (const base of [BASE, BASE.replace(/v1$/, 'v1alpha3')])
      await assert.rejects(client.request(`${base}/guestfs`), { reason: 'BadRequest', message: /has no image with tools for disks/ });
  });

  test('only the front proxy may speak for a user', async () => {
    given(vm('Halted'));
    const authority = async (name: string): Promise<KeyPair> => ({
      cert: await readFile(`${folder}/${name}.crt`, 'utf8'),
      key: await readFile(`${folder}/${name}.key`, 'utf8'),
    });
    const validity = { notBeforeMs: Date.now() - 1000, notAfterMs: Date.now() + 60_000 };
    const leaf = { use: 'client' as const, subject: { commonName: 'front-proxy-client' } };
    const strangers: Record<string, object> = {
      'no certificate': {},
      admin: pki.admin,
      'the client of virt-handler': pki.virtHandlerClient,
      'another name of the same authority': await issueLeaf(
        await authority('front-proxy-ca'),
        { ...leaf, subject: { commonName: 'mallory' } },
        validity,
      ),
      'the same name of another authority': await issueLeaf(await authority('kubevirt-ca'), leaf, validity),
    };
    for (const [name, credentials] of Object.entries(strangers)) {
      const { status } = await ask({
        port: virtApi.port,
        ca: pki.kubevirtCa,
        servername: 'virt-api.kubevirt.svc',
        method: 'PUT',
        path: `${VM}/start`,
        headers: { 'X-Remote-User': 'kubernetes-admin', 'X-Remote-Group': 'system:masters' },
        ...credentials,
      });
      assert.equal(status, 401, name);
    }
    assert.equal(theVm()?.spec.runStrategy, 'Halted');
    const health = await ask({ port: virtApi.port, ca: pki.kubevirtCa, servername: 'virt-api.kubevirt.svc', path: '/healthz' });
    assert.deepEqual([health.status, health.body], [200, 'ok']);
  });

  test('whoever calls a webhook without being known learns nothing and costs nothing', async () => {
    given(vm('Halted'), vmi('Running'));
    let asked = 0;
    api.mayDo = () => ++asked > 0;
    api.beforePatch = () => assert.fail('a webhook wrote');
    const direct = { port: virtApi.port, ca: pki.kubevirtCa, servername: 'virt-api.kubevirt.svc', method: 'POST' };
    const json = { 'content-type': 'application/json' };
    const review = (metadata: object, operation = 'CREATE') =>
      JSON.stringify({ kind: 'AdmissionReview', request: { uid: '1', operation, object: { metadata }, oldObject: { metadata } } });
    const bodies: [string, string, Record<string, string>, number][] = [
      ['nothing', '', json, 400],
      ['no review', '{"kind":"Pod"}', json, 400],
      ['what is said to be compressed', 'x'.repeat(1_000), { ...json, 'content-encoding': 'gzip' }, 400],
      ['deep nesting', `${'['.repeat(200_000)}`, json, 400],
      ['a body without end', ' '.repeat(16 * 2 ** 20 + 1), json, 413],
    ];
    for (const path of [
      '/validate/virtualmachines',
      '/mutate/virtualmachines',
      '/validate/evictions',
      '/validate/customresourcedefinitions',
    ])
      for (const [what, body, headers, status] of bodies) {
        const answer = await ask({ ...direct, path, body, headers });
        assert.equal(answer.status, status, `${path}: ${what}`);
        assert.doesNotMatch(answer.body, /default|db/);
      }
    const learned = async (path: string, metadata: object, operation?: string) => {
      const { status, body } = await ask({ ...direct, path, body: review(metadata, operation), headers: json });
      assert.equal(status, 200);
      return (JSON.parse(body) as { response: { allowed: boolean; status?: { message: string } } }).response;
    };
    assert.equal((await learned('/validate/evictions', { name: 'virt-launcher-db' })).allowed, true);
    assert.equal((await learned('/validate/evictions', { namespace: 'default', name: 'virt-launcher-db' })).allowed, true);
    const { status } = await learned('/validate/customresourcedefinitions', { name: 'virtualmachines.kubevirt.io' }, 'DELETE');
    assert.doesNotMatch(status?.message ?? '', /default|db/);
    assert.equal(asked, 0);
  });

  test('who may is asked for every call, with the name, the groups and the extras that the API server told', async () => {
    given(vm('Halted'), vmi('Running'));
    const asked: object[] = [];
    api.mayDo = (spec) => {
      asked.push(spec);
      return false;
    };
    const calls = ROUTES.map(({ resource, subresource, takesRest, method, ...route }) => {
      const path = `${BASE}/namespaces/default/${resource}/db/${subresource}${takesRest ? '/80' : ''}`;
      return { path, resource, subresource, method: method as string, isSocket: 'open' in route };
    });
    const headers = {
      'X-Remote-User': 'ann',
      'X-Remote-Group': ['people', 'a, system:masters'],
      'X-Remote-Extra-Example.org%2FScope': 'x',
      'X-Remote-Uid': '1',
    };
    const direct = { port: virtApi.port, ca: pki.kubevirtCa, servername: 'virt-api.kubevirt.svc', ...pki.frontProxyClient, headers };
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Key': 'x'.repeat(24), 'Sec-WebSocket-Version': '13' };
    for (const { path, method, isSocket } of calls) {
      const { status } = await ask({ ...direct, method, path, headers: { ...headers, ...(isSocket && upgrade) } });
      assert.equal(status, 403, path);
    }
    assert.equal((await ask({ ...direct, method: 'PUT', path: `${BASE}/namespaces/default/expand-vm-spec` })).status, 403);
    const group = 'subresources.kubevirt.io';
    const who = { user: 'ann', uid: '1', groups: ['people', 'a, system:masters'], extra: { 'example.org/scope': ['x'] } };
    const review = (attributes: object) => ({ ...who, resourceAttributes: { group, ...attributes } });
    const namespace = 'default';
    assert.deepEqual(asked, [
      ...calls.map(({ resource, subresource, method }) =>
        review({ resource, subresource, namespace, name: 'db', verb: method === 'GET' ? 'get' : 'update' }),
      ),
      review({ resource: 'expand-vm-spec', namespace, verb: 'update' }),
    ]);
    assert.equal(theVm()?.spec.runStrategy, 'Halted');
  });

  test('the oldest TLS is what the installation says, for connections from then on', async () => {
    const listeners: ((now: ClusterConfiguration) => void)[] = [];
    const configuration = {
      ...fixedConfiguration(),
      onChange: (listener: (now: ClusterConfiguration) => void) => void listeners.push(listener),
    };
    const ended = new AbortController();
    const log = silentLogger;
    const own = await startVirtApi({
      client: api.client,
      pki,
      host: '127.0.0.1',
      port: 0,
      clock: systemClock,
      log,
      signal: ended.signal,
      configuration,
    });
    const health = (maxVersion: 'TLSv1.2' | 'TLSv1.3') =>
      ask({ port: own.port, ca: pki.kubevirtCa, servername: 'virt-api.kubevirt.svc', path: '/healthz', maxVersion }).then(
        ({ status }) => status,
      );
    assert.equal(await health('TLSv1.2'), 200);
    for (const listener of listeners) listener({ ...DEFAULT_CONFIGURATION, tls: { minVersion: 'TLSv1.3' } });
    await assert.rejects(health('TLSv1.2'), /protocol version/);
    assert.equal(await health('TLSv1.3'), 200);
    ended.abort();
    await own.stopped;
  });

  const handlerPod = (port: number, overrides: Partial<Pod['metadata']> = {}): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'virt-handler-n1', namespace: 'kubevirt', labels: { 'kubevirt.io': 'virt-handler' }, ...overrides },
    spec: { nodeName: 'n1', containers: [{ name: 'virt-handler', ports: [{ name: 'console', containerPort: port }] }] },
    status: { phase: 'Running', podIP: '127.0.0.1' },
  });
  const handlerPort = () => (handler.address() as AddressInfo).port;

  test('a console goes through to the virt-handler of the node and back', async () => {
    given(vm('Always'), vmi('Running', { nodeName: 'n1' }));
    api.put('pods', handlerPod(handlerPort()));
    const socket = await openWebSocket({ cluster, path: `${CONSOLE}?shared=true`, protocols: ['plain.kubevirt.io'] });
    const next = () => new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))));
    assert.deepEqual(JSON.parse(await next()), {
      url: '/v1/namespaces/default/virtualmachineinstances/db/console?shared=true',
      client: VIRT_HANDLER_CLIENT_NAME,
    });
    assert.equal(socket.protocol, 'plain.kubevirt.io');
    const echo = next();
    socket.send(Buffer.from('ls\r'));
    assert.equal(await echo, 'ls\r');
    const closed = once(socket, 'close');
    for (const each of webSockets.clients) each.close(1001, 'guest has ended');
    assert.deepEqual([(await closed)[0], String((await closed)[1])], [1001, 'guest has ended']);
  });

  test('a console without a subprotocol works as well', async () => {
    given(vm('Always'), vmi('Running', { nodeName: 'n1' }));
    api.put('pods', handlerPod(handlerPort()));
    const socket = await openWebSocket({ cluster, path: CONSOLE });
    assert.equal(socket.protocol, '');
    socket.terminate();
  });

  const noConsole: [string, number, () => void][] = [
    ['of an instance that is not there', 404, () => {}],
    ['of an instance that starts', 400, () => given(vm('Always'), vmi('Scheduled'))],
    ['of an instance that failed', 409, () => given(vm('Always'), vmi('Failed'))],
    [
      'of one that has none',
      400,
      () => given(vm('Always'), { ...vmi('Running'), spec: { domain: { devices: { autoattachSerialConsole: false } } } }),
    ],
    ['on a node without virt-handler', 503, () => given(vm('Always'), vmi('Running', { nodeName: 'n2' }))],
    [
      'on a node whose virt-handler is gone',
      503,
      () => {
        given(vm('Always'), vmi('Running', { nodeName: 'n1' }));
        api.put('pods', handlerPod(1));
      },
    ],
    [
      'on a node whose virt-handler is an impostor',
      503,
      () => {
        given(vm('Always'), vmi('Running', { nodeName: 'n1' }));
        api.put('pods', handlerPod(virtApi.port)); // a good certificate, but not that of virt-handler
      },
    ],
  ];
  for (const [name, code, arrange] of noConsole) {
    test(`a console ${name} is refused with ${code}`, async () => {
      arrange();
      await assert.rejects(openWebSocket({ cluster, path: CONSOLE }), { name: 'ApiError', code });
    });
  }

  test('a console without an upgrade is refused', async () => {
    const { status } = await ask({ port: front.port, ca: pki.ca, ...pki.admin, path: CONSOLE });
    assert.equal(status, 400);
  });
});

/** Says who called and what for, then echoes. */
function fakeHandler(pki: Pki, webSockets: WebSocketServer): Server {
  const server = createServer({ ...pki.virtHandler, ca: pki.kubevirtCa, requestCert: true, rejectUnauthorized: true });
  server.on('upgrade', (request, socket, head) => {
    webSockets.handleUpgrade(request, socket, head, (accepted) => {
      const client = (request.socket as TLSSocket).getPeerCertificate().subject.CN;
      accepted.send(JSON.stringify({ url: request.url, client }));
      accepted.on('message', (data, isBinary) => accepted.send(data, { binary: isBinary }));
    });
  });
  return server;
}
