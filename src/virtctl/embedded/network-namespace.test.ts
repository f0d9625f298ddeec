import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../base/clock.ts';
import { isSameProcess } from '../../base/node/process-identity.ts';
import { closeNetwork, openNetwork } from './network-namespace.ts';

const FIRST_PORT = 26_443;
let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubevirt-ts-network-'));
  mkdirSync(join(home, 'run'));
});
afterEach(() => {
  closeNetwork(home);
  rmSync(home, { recursive: true });
});

function open(env: NodeJS.ProcessEnv = {}) {
  return openNetwork({ home, port: FIRST_PORT, env, clock: systemClock });
}

function inside(prefix: readonly string[], ...command: string[]): string {
  const [program = '', ...rest] = [...prefix, ...command];
  return execFileSync(program, rest, { encoding: 'utf8' });
}

test('who asks for the network of the host gets it', async () => {
  assert.deepEqual(await open({ KUBEVIRT_NETWORK: 'host' }), {
    mode: 'host',
    prefix: [],
    port: FIRST_PORT,
    isNew: false,
    why: 'KUBEVIRT_NETWORK=host',
  });
  assert.equal(existsSync(join(home, 'run/network.json')), false);
});

test('who asks for the network of the host by a flag gets it, and nobody gets it unasked', async () => {
  const network = await openNetwork({ home, port: FIRST_PORT, env: {}, clock: systemClock, isHostWanted: true });
  assert.deepEqual([network.mode, network.why], ['host', '--host-network']);
  const path = process.env['PATH'];
  process.env['PATH'] = '/nonexistent';
  try {
    await assert.rejects(open(), (error: Error & { code?: string; fix?: string }) => {
      assert.equal(error.code, 'NETWORK_NAMESPACE_MISSING');
      assert.match(error.fix ?? '', /--host-network, where guests have no way out/);
      return true;
    });
  } finally {
    process.env['PATH'] = path;
  }
});

test('a namespace has local Pod and Service addresses, is found again, and is gone when it is closed', async (t) => {
  const network = await open();
  if (network.mode === 'host') {
    t.skip(`no namespace here: ${network.why}`);
    return;
  }
  const own = inside(network.prefix, 'readlink', '/proc/self/ns/net');
  assert.notEqual(own.trim(), readlinkSync('/proc/self/ns/net'));
  for (const address of ['10.244.3.4', '10.96.0.1']) assert.match(inside(network.prefix, 'ip', 'route', 'get', address), /^local/);
  assert.match(inside(network.prefix, 'sh', '-c', 'ip route get 169.254.169.254 2>&1 || true'), /unreachable|No route to host/);
  assert.equal(inside(network.prefix, 'cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start').trim(), '0');

  assert.deepEqual([network.isNew, await open()], [true, { ...network, isNew: false }]);
  const { holder, pasta } = JSON.parse(readFileSync(join(home, 'run/network.json'), 'utf8'));
  closeNetwork(home);
  const deadline = systemClock.now() + 5_000;
  while ([holder, pasta].some(isSameProcess) && systemClock.now() < deadline) await systemClock.sleep(5);
  assert.deepEqual([holder, pasta].map(isSameProcess), [false, false]);
});
