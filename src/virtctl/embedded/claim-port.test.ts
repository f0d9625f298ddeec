import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { claimPort } from './claim-port.ts';

/** Above the NodePorts, which a cluster on this machine may hold. */
async function anyPort(): Promise<number> {
  const { port, release } = await claimPort(33_000 + Math.floor(Math.random() * 20_000));
  release();
  return port;
}

test('two that ask at the same moment get two ports', async () => {
  const first = await anyPort();
  const claims = await Promise.all([claimPort(first), claimPort(first), claimPort(first)]);
  for (const { release } of claims) release();
  assert.equal(new Set(claims.map(({ port }) => port)).size, 3);
});

test('a port in use is passed over, and can be claimed when it is free again', async () => {
  const first = await anyPort();
  const server = createServer().listen(first, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const beside = await claimPort(first);
  beside.release();
  await new Promise((resolve) => server.close(resolve));
  const again = await claimPort(first);
  again.release();
  assert.notEqual(beside.port, first);
  assert.equal(again.port, first);
});
