import assert from 'node:assert/strict';
import type { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { guardedFetch, isLoopbackHost } from './guarded-fetch.ts';

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
  ['https://registry.example.com', 'http://mirror.example.com/', /not https/],
  ['http://127.0.0.1:5000', 'http://10.0.0.1/', /not https/],
];
for (const [registry, target, why] of REFUSED)
  test(`${registry} cannot have ${target} asked`, () => assert.rejects(guardedFetch(registry)(new URL(target)), why));

test('a name that leads to the loopback is refused when the connection is made', async () => {
  const answer = [
    { address: '10.0.0.1', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  const lookUp = ((_name: string, _options: object, callback: (error: undefined, found: object) => void) =>
    callback(undefined, answer)) as unknown as typeof lookup; // one of its many shapes
  const asked = guardedFetch('https://registry.example.com', lookUp)(new URL('https://rebound.example.com/'));
  await assert.rejects(asked, /its name leads to this machine/);
});

test('a registry at the loopback may lead on there, without the login at another port', async (t) => {
  const there = await serverAt(t, '/');
  const from = await serverAt(t, `${there}/end`);
  const answer = await guardedFetch(from)(new URL('/start', from), { headers: { authorization: 'Basic x' } });
  assert.deepEqual([answer.url, await answer.text()], [`${there}/end`, 'undefined']);
});

test('nobody is led around for ever', async (t) => {
  const from = await serverAt(t, '/start');
  await assert.rejects(guardedFetch(from)(new URL('/start', from)), /more than 5 times/);
});

test('the loopback is known by name and by address', () => {
  assert.deepEqual(['localhost', '127.9.9.9', '[::1]', 'example.com', '10.0.0.1'].map(isLoopbackHost), [true, true, true, false, false]);
});
