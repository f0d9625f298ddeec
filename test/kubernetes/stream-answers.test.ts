/** exec, attach and port-forward: how a real API server refuses them and agrees on a protocol, and how ours does. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bySpdy, byWebSocket } from './handshake.ts';
import { kubernetesSkipReason } from './kubernetes-skip-reason.ts';
import { type Asked, TwoServers } from './two-servers.ts';

const PODS = '/api/v1/namespaces/t1/pods';
const EXEC = 'exec?command=true&stdout=true';
const ATTACH = 'attach?stdout=true';

const pod = (name: string, spec: object = {}, containers: readonly string[] = ['main']): Asked => ({
  method: 'POST',
  path: PODS,
  body: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: containers.map((each) => ({ name: each, image: 'example' })), ...spec },
  },
});

/** The Pods that are asked for; the node `dark` is known and does not answer. */
const PRESENT: readonly Asked[] = [
  { method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 't1' } } },
  {
    method: 'POST',
    path: '/api/v1/nodes',
    body: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'dark' },
      status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: 1 } } },
    },
  },
  pod('waiting'),
  pod('several', { initContainers: [{ name: 'init', image: 'example' }] }, ['a', 'b']),
  pod('lost', { nodeName: 'nowhere' }),
  pod('placed', { nodeName: 'dark' }),
];

const PROTOCOLS = [
  ['by WebSocket', 'GET', byWebSocket('v5.channel.k8s.io,v4.channel.k8s.io')],
  ['by SPDY', 'POST', bySpdy('v4.channel.k8s.io')],
] as const;

const REFUSED: readonly [name: string, path: string][] = [
  ['exec in a Pod that is not there', `none/${EXEC}`],
  ['exec in a Pod that no node has', `waiting/${EXEC}`],
  ['exec in a container that is not there', `waiting/${EXEC}&container=x`],
  ['exec in one of several containers', `several/${EXEC}`],
  ['exec in the last of several', `several/${EXEC}&container=b`],
  ['exec in an init container', `several/${EXEC}&container=init`],
  ['exec without a command', 'waiting/exec?stdout=true'],
  ['exec without a stream', 'waiting/exec?command=true'],
  ['exec on a node that is not there', `lost/${EXEC}`],
  ['exec on a node, in a container that is not there', `placed/${EXEC}&container=x`],
  ['attach to a Pod that is not there', `none/${ATTACH}`],
  ['attach to a Pod that no node has', `waiting/${ATTACH}`],
  ['attach to one of several containers', `several/${ATTACH}`],
  ['attach on a node that is not there', `lost/${ATTACH}`],
  ['port-forward to a Pod that is not there', 'none/portforward'],
  ['port-forward to a Pod that no node has', 'waiting/portforward?ports=80'],
  ['port-forward to a Pod of several containers', 'several/portforward?ports=80'],
  ['port-forward on a node that is not there', 'lost/portforward?ports=80'],
  ['a stream that there is not', 'waiting/nothing'],
];

const PLAIN: readonly [name: string, asked: Asked][] = [
  ['exec of a Pod that is not there', { path: `${PODS}/none/${EXEC}` }],
  ['exec of a Pod that no node has', { path: `${PODS}/waiting/${EXEC}` }],
  ['exec', { path: `${PODS}/placed/${EXEC}` }],
  ['exec, posted', { method: 'POST', path: `${PODS}/placed/${EXEC}` }],
  ['exec by a method that it does not have', { method: 'PUT', path: `${PODS}/placed/${EXEC}` }],
  ['attach', { path: `${PODS}/placed/${ATTACH}` }],
  ['port-forward', { path: `${PODS}/placed/portforward` }],
  ['logs of one of several containers', { path: `${PODS}/several/log` }],
  ['logs of a container that is not there', { path: `${PODS}/several/log?container=x` }],
  ['logs of a Pod that no node has', { path: `${PODS}/waiting/log` }],
];

describe('streams of Pods are refused and agreed on as by a real Kubernetes', { skip: kubernetesSkipReason() }, () => {
  let servers: TwoServers;
  before(async () => {
    servers = await TwoServers.start();
    for (const asked of PRESENT)
      for (const which of ['real', 'ours'] as const) assert.equal((await servers.ask(which, asked)).code, 201, JSON.stringify(asked));
  });
  after(async () => {
    await servers?.[Symbol.asyncDispose]();
  });

  for (const [by, method, headers] of PROTOCOLS) {
    for (const [name, path] of REFUSED) {
      test(`${name}, ${by}`, async () => {
        const handshake = { method, path: `${PODS}/${path}`, headers };
        assert.deepEqual(await servers.shake('ours', handshake), await servers.shake('real', handshake));
      });
    }
  }

  for (const [name, asked] of PLAIN) {
    test(`${name}, without leaving HTTP`, async () => {
      const [{ raw: _real, ...real }, { raw: _ours, ...ours }] = [await servers.ask('real', asked), await servers.ask('ours', asked)];
      assert.deepEqual(ours, real);
    });
  }

  test('a method that streams do not have', async () => {
    const handshake = { method: 'PUT', path: `${PODS}/placed/${EXEC}`, headers: byWebSocket('v5.channel.k8s.io') };
    assert.deepEqual(await servers.shake('ours', handshake), await servers.shake('real', handshake));
  });

  for (const path of [EXEC, ATTACH, 'portforward']) {
    test(`${path.split('?')[0]} is forbidden to a stranger, by SPDY in the same words`, async () => {
      const headers = { ...bySpdy('v4.channel.k8s.io'), 'impersonate-user': 'eve' };
      const handshake = { method: 'POST', path: `${PODS}/waiting/${path}`, headers };
      assert.deepEqual(await servers.shake('ours', handshake), await servers.shake('real', handshake));
    });
  }

  test('and by WebSocket: ours asks for the right to create whatever the method', async () => {
    const headers = { ...byWebSocket('v5.channel.k8s.io'), 'impersonate-user': 'eve' };
    const handshake = { method: 'GET', path: `${PODS}/waiting/${EXEC}`, headers };
    assert.deepEqual([(await servers.shake('ours', handshake)).code, (await servers.shake('real', handshake)).code], [403, 403]);
  });

  for (const offered of ['v5.channel.k8s.io', 'v5.channel.k8s.io, v4.channel.k8s.io', 'v4.channel.k8s.io, v5.channel.k8s.io']) {
    test(`of ${offered} the same is chosen`, async () => {
      const handshake = { method: 'GET', path: `${PODS}/placed/${EXEC}`, headers: byWebSocket(offered) };
      assert.deepEqual(await servers.shake('ours', handshake), await servers.shake('real', handshake));
    });
  }
});
