import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../base/clock.ts';
import { podUserRange } from '../../base/node/pod-user-range.ts';
import { isSameProcess } from '../../base/node/process-identity.ts';
import { LAST_PORT } from './claim-port.ts';
import { closeNetwork, type Network, openNetwork } from './network-namespace.ts';

const FIRST_PORT = 26_443;
let home = '';
const opened: Network[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubevirt-ts-network-'));
  mkdirSync(join(home, 'run'));
});
afterEach(() => {
  for (const each of opened.splice(0)) each.listener?.close();
  closeNetwork(home);
  rmSync(home, { recursive: true });
});

async function open(env: NodeJS.ProcessEnv = {}): Promise<Network> {
  const network = await openNetwork({ home, port: FIRST_PORT, env, clock: systemClock });
  opened.push(network);
  return network;
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
    pagePort: 0,
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
  assert.match(inside(network.prefix, 'ip', 'route', 'get', '10.244.3.4'), / src 10\.244\.0\.1 /); // not itself, which containers refuse
  assert.match(inside(network.prefix, 'sh', '-c', 'ip route get 169.254.169.254 2>&1 || true'), /unreachable|No route to host/);
  assert.equal(inside(network.prefix, 'cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start').trim(), '0');
  assert.match(inside(network.prefix, 'cat', '/proc/sys/net/ipv4/ping_group_range'), /^0\s/); // `1 0` allows nobody

  const beside = await open();
  assert.equal(beside.port > network.port, true, 'that port is in use');
  for (const { listener } of [beside, network]) await new Promise((resolve) => listener?.close(resolve));
  const { listener, ...again } = await open();
  assert.deepEqual(again, { mode: 'namespace', prefix: network.prefix, port: beside.port, pagePort: network.pagePort, isNew: false });
  assert.equal(listener?.listening, true);
  const { holder, pasta } = JSON.parse(readFileSync(join(home, 'run/network.json'), 'utf8'));
  closeNetwork(home);
  const deadline = systemClock.now() + 5_000;
  while ([holder, pasta].some(isSameProcess) && systemClock.now() < deadline) await systemClock.sleep(5);
  assert.deepEqual([holder, pasta].map(isSameProcess), [false, false]);
});

test('where there is no port for the web page there is a network without one', async (t) => {
  const other = createServer().listen(LAST_PORT, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  try {
    const network = await openNetwork({ home, port: FIRST_PORT, env: {}, clock: systemClock, firstPagePort: LAST_PORT });
    network.listener?.close();
    assert.deepEqual([network.mode, network.pagePort], ['namespace', undefined]);
  } finally {
    closeNetwork(home);
  }
});

test('a guest reaches Services, Pods and the way out, and nothing on the loopback of our components', async (t) => {
  const range = podUserRange();
  if (!range) return t.skip('needs root: guests have no users of their own');
  const network = await open();
  const way = (address: string, uid: number) =>
    inside(network.prefix, 'sh', '-c', `ip route get ${address} uid ${uid} 2>&1 || true`).trim();
  const guest = range.first + 7;
  for (const address of ['127.0.0.1', '127.0.0.2', '127.255.255.254']) {
    assert.match(way(address, guest), /Permission denied|prohibit/, address);
    assert.match(way(address, 0), /^local/, address);
  }
  for (const address of ['10.96.0.1', '10.244.3.4']) assert.match(way(address, guest), /^local/, address);
  assert.match(way('192.0.2.77', guest), / via | dev /);
  assert.match(way('127.0.0.1', 107), /Permission denied|prohibit/); // who was given a folder by an administrator
  await assert.rejects(connectAs(network.prefix, guest, '127.0.0.1'), /EACCES|EPERM/);
  await assert.rejects(connectAs(network.prefix, guest, '0.0.0.0'), /EACCES|EPERM/); // the loopback by another name
  await assert.rejects(connectAs(network.prefix, guest, '10.96.0.1'), /ECONNREFUSED/); // nobody listens, but there is a way
  await assert.rejects(connectAs(network.prefix, 0, '127.0.0.1'), /ECONNREFUSED/);

  // As a version before this one left it: the next start closes it.
  inside(network.prefix, 'sh', '-c', 'ip rule add pref 0 lookup local; ip rule del pref 10; ip rule del pref 20');
  assert.match(way('127.0.0.1', guest), /^local/);
  await open();
  assert.match(way('127.0.0.1', guest), /Permission denied|prohibit/);
  assert.match(way('127.0.0.1', 107), /^local/); // a vmctl of that version, which was told to find the API there
});

/** Connects to a port where nobody listens, in that network and as that user. */
async function connectAs(prefix: readonly string[], uid: number, address: string): Promise<void> {
  const script = `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid});
    require('node:net').connect(9, '${address}').on('error', (error) => { console.error(error.code); process.exit(1); });`;
  const [program = '', ...args] = [...prefix, process.execPath, '-e', script];
  await promisify(execFile)(program, args);
}
