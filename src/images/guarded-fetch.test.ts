import assert from 'node:assert/strict';
import type { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { guardedFetch, isLoopbackHost, tenantFetch, tenantRules } from './guarded-fetch.ts';

async function serverAt(t: TestContext, location: string): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    if (url === '/start') response.writeHead(302, { location }).end();
    else response.end(`${headers.authorization}`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const REFUSED: [registry: string, target: string, why: RegExp][] = [
  ['https://registry.example.com', 'https://127.0.0.1/', /this machine or its own link/],
  ['https://registry.example.com', 'https://127.1/', /this machine/],
  ['https://registry.example.com', 'https://localhost/', /this machine/],
  ['https://registry.example.com', 'https://[::1]/', /this machine/],
  ['https://registry.example.com', 'https://[::ffff:127.0.0.1]/', /this machine/],
  ['https://registry.example.com', 'https://169.254.169.254/latest/meta-data', /this machine or its own link/],
  ['https://registry.example.com', 'https://0.0.0.0/', /this machine/],
  ['https://registry.example.com', 'https://[64:ff9b::7f00:1]/', /this machine/],
  ['https://registry.example.com', 'https://[64:ff9b::169.254.169.254]/', /its own link/],
  ['https://registry.example.com', 'https://[64:ff9b:1::127.0.0.1]/', /this machine/],
  ['https://registry.example.com', 'https://[::127.0.0.1]/', /this machine/],
  ['https://registry.example.com', 'https://[2002:7f00:1::1]/', /this machine/],
  ['https://registry.example.com', 'https://[2002:a9fe:a9fe::]/', /its own link/],
  ['https://registry.example.com', 'http://mirror.example.com/', /not https/],
  ['http://127.0.0.1:5000', 'http://10.0.0.1/', /not https/],
];
for (const [registry, target, why] of REFUSED)
  test(`${registry} cannot have ${target} asked`, () =>
    assert.rejects(guardedFetch(registry)(new URL(target)), { code: 'ADDRESS_REFUSED', why, fix: /./ }));

test('a name that leads to the loopback is refused when the connection is made', async () => {
  const answer = [
    { address: '10.0.0.1', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  const lookUp = ((_name: string, _options: object, callback: (error: undefined, found: object) => void) =>
    callback(undefined, answer)) as unknown as typeof lookup; // one of its many shapes
  const asked = guardedFetch('https://registry.example.com', lookUp)(new URL('https://rebound.example.com/'));
  await assert.rejects(asked, { code: 'ADDRESS_REFUSED', why: /that is this machine or its own link/ });
});

test('a registry at the loopback may lead on there, without the login at another port', async (t) => {
  const there = await serverAt(t, '/');
  const from = await serverAt(t, `${there}/end`);
  const answer = await guardedFetch(from)(new URL('/start', from), { headers: { authorization: 'Basic x' } });
  assert.deepEqual([answer.url, await answer.text()], [`${there}/end`, 'undefined']);
});

test('nobody is led around for ever', async (t) => {
  const from = await serverAt(t, '/start');
  await assert.rejects(guardedFetch(from)(new URL('/start', from)), { why: /more than 5 times/ });
});

test('the loopback is known by name and by address', () => {
  assert.deepEqual(['localhost', '127.9.9.9', '[::1]', 'example.com', '10.0.0.1'].map(isLoopbackHost), [true, true, true, false, false]);
});

/** A name server for a test: every name leads to one address. */
function leadingTo(address: string): typeof lookup {
  const found = [{ address, family: 4 }];
  return ((_name: string, _options: object, callback: (error: undefined, found: object) => void) =>
    callback(undefined, found)) as unknown as typeof lookup; // one of its many shapes
}

const NOT_FOR_TENANTS: [named: string, leadsTo: string, why: RegExp][] = [
  ['http://127.0.0.1/disk', '', /this machine or its own link/],
  ['http://localhost/disk', '', /this machine/],
  ['http://169.254.169.254/latest/meta-data', '', /its own link/],
  ['http://[::1]/disk', '', /this machine/],
  ['http://[::ffff:169.254.169.254]/disk', '', /its own link/],
  ['https://disks.example.com/disk', '127.0.0.1', /this machine/],
  ['https://disks.example.com/disk', '169.254.169.254', /its own link/],
  ['ftp://disks.example.com/disk', '203.0.113.1', /./],
];
for (const [named, leadsTo, why] of NOT_FOR_TENANTS)
  test(`a tenant cannot have ${named} asked${leadsTo && ` when it leads to ${leadsTo}`}`, () =>
    assert.rejects(tenantFetch(named, leadingTo(leadsTo))(new URL(named)), { code: 'ADDRESS_REFUSED', why }));

test('an address outside leads a tenant neither into the cluster nor from https to http', async () => {
  const rules = (named: string) => tenantRules(named);
  const outside = rules('https://disks.example.com/disk');
  assert.equal(outside.whyNot(['203.0.113.1'], 0), undefined);
  assert.match(outside.whyNot(['10.96.0.1'], 1)?.why ?? '', /private network, such as that of the cluster/);
  assert.match(outside.whyNot(['::ffff:192.168.1.1'], 1)?.why ?? '', /private network/);
  assert.throws(() => outside.assertAllowed(new URL('http://other.example.com/'), 1), { why: /not https/ });
  for (const inPrivate of ['64:ff9b::a60:1', '2002:c0a8:101::1', 'fec0::1', 'fd00::1', '64:ff9b:1:2::3', '::10.0.0.1'])
    assert.match(outside.whyNot([inPrivate], 1)?.why ?? '', /private network/, inPrivate);
  for (const outsideToo of ['64:ff9b::cb00:7101', '2002:cb00:7101::1', '2001:db8::1', '::ffff:203.0.113.1'])
    assert.equal(outside.whyNot([outsideToo], 1), undefined, outsideToo);
  const inside = rules('http://disks.team.svc/disk');
  assert.equal(inside.whyNot(['10.96.0.7'], 0), undefined);
  assert.equal(inside.whyNot(['10.244.0.9'], 1), undefined);
  assert.match(inside.whyNot(['169.254.169.254'], 1)?.why ?? '', /its own link/);
});
