import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer, type TestServer } from '../test-server.testing.ts';

const PATH = '/api/v1/namespaces/default/services';
const RANGE = 'is not in the valid range. The range of valid IPs is 10.96.0.0/12';
const PORT_RANGE = 'provided port is not in the valid range. The range of valid ports is 30000-32767';

type Answer = {
  readonly code?: number;
  readonly message?: string;
  readonly spec?: { readonly clusterIP?: string; readonly clusterIPs?: string[]; readonly ports: { readonly nodePort?: number }[] };
};

async function send(server: TestServer, method: string, path: string, body?: object, type = 'application/json'): Promise<Answer> {
  const answer = await server.fetch(path, { method, headers: { 'content-type': type }, body: body && JSON.stringify(body) });
  return (await answer.json()) as Answer;
}

function named(name: string, spec: object = {}): object {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
}

const REFUSED: [title: string, spec: object, why: string][] = [
  [
    'an address of the network outside',
    { clusterIP: '8.8.8.8' },
    `spec.clusterIPs: Invalid value: ["8.8.8.8"]: failed to allocate IP 8.8.8.8: the provided IP (8.8.8.8) ${RANGE}`,
  ],
  ['the loopback', { clusterIP: '127.0.0.1' }, RANGE],
  ['the loopback in the list', { clusterIPs: ['127.0.0.1'] }, RANGE],
  ['the address of a Pod', { clusterIP: '10.244.0.5' }, RANGE],
  ['the first address of the range', { clusterIP: '10.96.0.0' }, RANGE],
  ['the last address of the range', { clusterIP: '10.111.255.255' }, RANGE],
  ['an address with a leading zero', { clusterIP: '10.96.0.010' }, RANGE],
  ['an IPv6 address', { clusterIP: '::1' }, RANGE],
  ['the address of the API server', { clusterIP: '10.96.0.1' }, 'failed to allocate IP 10.96.0.1: provided IP is already allocated'],
  ['the address of the name server', { clusterIP: '10.96.0.10' }, 'provided IP is already allocated'],
  ['the address of another Service', { clusterIP: '10.96.7.7' }, 'provided IP is already allocated'],
  ['two addresses that differ', { clusterIP: '10.96.7.8', clusterIPs: ['10.96.7.9'] }, 'first value must match `clusterIP`'],
  ['a second address', { clusterIP: '10.96.7.8', clusterIPs: ['10.96.7.8', '10.96.7.7'] }, 'may only hold up to 1 values'],
  ['IPv6', { ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  [
    'no address for a NodePort',
    { type: 'NodePort', clusterIP: 'None' },
    `spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`,
  ],
  [
    'the port of another program',
    { type: 'NodePort', ports: [{ port: 80, nodePort: 22 }] },
    `spec.ports[0].nodePort: Invalid value: 22: ${PORT_RANGE}`,
  ],
  ['a port beyond the range', { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 32_768 }] }, PORT_RANGE],
  [
    'the NodePort of another Service',
    { type: 'NodePort', ports: [{ port: 80, nodePort: 30_777 }] },
    'spec.ports[0].nodePort: Invalid value: 30777: provided port is already allocated',
  ],
  [
    'the NodePort of another Service for UDP',
    { type: 'NodePort', ports: [{ port: 80, protocol: 'UDP', nodePort: 30_777 }] },
    'provided port is already allocated',
  ],
  [
    'one NodePort twice',
    {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 80, nodePort: 30_001 },
        { name: 'b', port: 81, nodePort: 30_001 },
      ],
    },
    'spec.ports[1].nodePort: Duplicate value: 30001',
  ],
  [
    'a NodePort without the type',
    { ports: [{ port: 80, nodePort: 30_001 }] },
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  ['a NodePort of a headless one', { clusterIP: 'None', ports: [{ port: 80, nodePort: 22 }] }, 'may not be used when'],
  ['no port', { ports: [] }, 'spec.ports: Required value'],
  [
    'a port that is none',
    { ports: [{ port: 65_536 }] },
    'spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive',
  ],
  [
    'the loopback as an external address',
    { externalIPs: ['127.0.0.1'] },
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range',
  ],
  ['the metadata service as an external address', { externalIPs: ['::ffff:169.254.169.254'] }, 'may not be in the link-local range'],
  ['an external name without a name', { type: 'ExternalName' }, 'spec.externalName: Required value'],
  [
    'an external name with an address',
    { type: 'ExternalName', externalName: 'example.org', clusterIP: '10.96.0.1' },
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
  ],
];

test('a Service cannot have an address or a NodePort that is not for it', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  await send(server, 'POST', PATH, named('other', { type: 'NodePort', clusterIP: '10.96.7.7', ports: [{ port: 80, nodePort: 30_777 }] }));
  for (const [title, spec, why] of REFUSED) {
    await t.test(`${title}: on create, dry run and apply`, async () => {
      const ways = [
        send(server, 'POST', PATH, named('own', spec)),
        send(server, 'POST', `${PATH}?dryRun=All`, named('own', spec)),
        send(server, 'PATCH', `${PATH}/own?fieldManager=me`, named('own', spec), 'application/apply-patch+yaml'),
      ];
      for (const { code, message = '' } of await Promise.all(ways)) {
        assert.equal(code, 422, message);
        assert.ok(message.includes(why), message);
      }
    });
  }
});

test('one port twice is refused', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const ports = ['a', 'b'].map((name) => ({ name, port: 80 }));
  const { code, message = '' } = await send(server, 'POST', PATH, named('own', { ports }));
  assert.deepEqual([code, message.includes('spec.ports[1]: Duplicate value')], [422, true], message);
});

const CHANGES: [title: string, spec: object, why: string][] = [
  ['another address', { clusterIP: '10.96.7.9' }, 'spec.clusterIPs[0]: Invalid value: ["10.96.7.9"]: may not change once set'],
  ['the address of another Service', { clusterIP: '10.96.7.7', clusterIPs: ['10.96.7.7'] }, 'may not change once set'],
  ['the NodePort of another Service', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_777 }] }, 'provided port is already allocated'],
  ['a port of the host', { type: 'NodePort', ports: [{ port: 80, nodePort: 18_080 }] }, PORT_RANGE],
];

test('nor can one be changed to have it: by update, patch, apply', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  await send(server, 'POST', PATH, named('other', { type: 'NodePort', clusterIP: '10.96.7.7', ports: [{ port: 80, nodePort: 30_777 }] }));
  await send(server, 'POST', PATH, named('own', { clusterIP: '10.96.7.8' }));
  for (const [title, spec, why] of CHANGES) {
    await t.test(title, async () => {
      const answers = [
        await send(server, 'PUT', `${PATH}/own`, named('own', spec)),
        await send(server, 'PATCH', `${PATH}/own`, { spec }, 'application/merge-patch+json'),
        await send(server, 'PATCH', `${PATH}/own?dryRun=All`, { spec }, 'application/strategic-merge-patch+json'),
        await send(server, 'PATCH', `${PATH}/own?fieldManager=me&force=true`, named('own', spec), 'application/apply-patch+yaml'),
      ];
      for (const { code, message = '' } of answers) {
        assert.equal(code, 422, message);
        assert.ok(message.includes(why), message);
      }
    });
  }
});

test('of many creates at once that want one address, or one NodePort, one gets it', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  for (const [way, spec] of Object.entries({
    a: { clusterIP: '10.96.3.3' },
    p: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_333 }] },
  })) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => send(server, 'POST', PATH, named(`${way}${i}`, spec))));
    assert.deepEqual(answers.map(({ code = 201 }) => code).sort(), [201, ...new Array<number>(19).fill(422)]);
  }
  const free = await Promise.all(Array.from({ length: 50 }, (_, i) => send(server, 'POST', PATH, named(`free${i}`, { type: 'NodePort' }))));
  assert.equal(new Set(free.map(({ spec }) => spec?.ports[0]?.nodePort)).size, 50, 'those that name none get one each');
});

test('an address and a NodePort are free again when their Service is gone', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const spec = { type: 'NodePort', clusterIP: '10.96.3.3', ports: [{ port: 80, nodePort: 30_333 }] };
  await send(server, 'POST', PATH, named('a', spec));
  await send(server, 'DELETE', `${PATH}/a`);
  assert.equal((await send(server, 'POST', PATH, named('b', spec))).spec?.clusterIP, '10.96.3.3');
});

test('a NodePort serves TCP and UDP of one Service, and goes with the type', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP', nodePort: 30_053 },
    { name: 'dns-tcp', port: 53, protocol: 'TCP', nodePort: 30_053 },
  ];
  const made = await send(server, 'POST', PATH, named('dns', { type: 'NodePort', ports }));
  assert.deepEqual(
    made.spec?.ports.map(({ nodePort }) => nodePort),
    [30_053, 30_053],
  );
  const bare = ports.map(({ nodePort: _, ...port }) => port);
  const kept = await send(server, 'PUT', `${PATH}/dns`, named('dns', { type: 'NodePort', ports: bare }));
  assert.deepEqual(
    kept.spec?.ports.map(({ nodePort }) => nodePort),
    [30_053, 30_053],
    'a client that leaves them out keeps them',
  );
  const inside = await send(server, 'PATCH', `${PATH}/dns`, { spec: { type: 'ClusterIP' } }, 'application/merge-patch+json');
  assert.deepEqual(
    inside.spec?.ports.map(({ nodePort }) => nodePort),
    [undefined, undefined],
  );
  const outside = { spec: { type: 'ExternalName', externalName: 'example.org' } };
  const away = await send(server, 'PATCH', `${PATH}/dns`, outside, 'application/merge-patch+json');
  assert.deepEqual([away.spec?.clusterIP, away.spec?.clusterIPs], [undefined, undefined]);
  const back = await send(
    server,
    'PATCH',
    `${PATH}/dns`,
    { spec: { type: 'ClusterIP', externalName: null } },
    'application/merge-patch+json',
  );
  assert.match(back.spec?.clusterIP ?? JSON.stringify(back), /^10\./);
});

test('a Service that an older release stored with such an address may still be changed elsewhere', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const stored = {
    ...named('old', {
      type: 'NodePort',
      clusterIP: '127.0.0.1',
      clusterIPs: ['127.0.0.1'],
      ports: [{ port: 80, nodePort: 22, protocol: 'TCP' }],
    }),
    metadata: { name: 'old', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  };
  await server.store.write({ key: 'core/services/default/old', expectedRevision: 0, value: stored as never }); // an object of JSON values
  const changed = await send(server, 'PATCH', `${PATH}/old`, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json');
  assert.equal(changed.code, undefined, changed.message);
});

test('the Services of a namespace have a number of ports together, however they come to them', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const ports = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `p${at}`, port: at + 1 }));
  const why = 'spec.ports: Forbidden: the Services of namespace "default" may have 1000 ports together on this cluster';
  assert.match((await send(server, 'POST', PATH, named('huge', { ports: ports(1_001) }))).message ?? '', new RegExp(why));
  const atOnce = await Promise.all(['a', 'b', 'c'].map((name) => send(server, 'POST', PATH, named(name, { ports: ports(400) }))));
  assert.equal(atOnce.filter(({ code }) => code === undefined).length, 2);
  const [kept] = atOnce.flatMap(({ code }, at) => (code === undefined ? [['a', 'b', 'c'][at]] : []));
  const merge = 'application/merge-patch+json';
  assert.match((await send(server, 'PATCH', `${PATH}/${kept}`, { spec: { ports: ports(601) } }, merge)).message ?? '', new RegExp(why));
  assert.equal((await send(server, 'PATCH', `${PATH}/${kept}`, { metadata: { labels: { a: 'b' } } }, merge)).code, undefined);
  assert.equal((await send(server, 'POST', PATH, named('headless', { clusterIP: 'None', ports: ports(900) }))).code, undefined);
  await send(server, 'DELETE', `${PATH}/${kept}`);
  assert.equal((await send(server, 'POST', PATH, named('later', { ports: ports(500) }))).code, undefined);
});
