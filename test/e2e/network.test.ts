import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../src/testing/until.ts';
import { EmbeddedCluster, run } from './harness.ts';

const HOST_ADDRESSES = '.metadata.annotations.kubevirt\\.io/host-addresses';
const HELLO = /Hello from a virtual machine/;

test('guests are reached: by port-forward, by Services from other guests, by NodePorts from the host', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  for (const name of ['server', 'client']) await cluster.must('kubectl', ['apply', '-f', '-'], { input: machine(name) });
  for (const name of ['server', 'client']) await cluster.until(`vmi/${name}`, '.status.phase', 'Running');
  await using server = cluster.console('server');
  await server.expect(/guest ready/); // its web server is up
  await using console = cluster.console('client');
  await console.expect(/guest ready/);
  await console.login();

  await t.test('port-forward carries a port of the guest to this machine', async () => {
    const forward = spawn(join('bin', 'virtctl'), ['port-forward', 'vm/server', '0:80'], {
      env: { ...process.env, VIRT_HOME: cluster.home, KUBECONFIG: join(cluster.home, 'kubeconfig') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      const [said] = await once(forward.stderr, 'data');
      const [, port] = /forwarding tcp 127\.0\.0\.1:(\d+) to 80/.exec(String(said)) ?? [];
      assert.match(await (await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(20_000) })).text(), HELLO);
    } finally {
      forward.kill();
      await once(forward, 'exit');
    }
  });

  await t.test('a port that is not there is refused with a reason', async () => {
    const { code, stderr } = await cluster.virtctl(['port-forward', '--stdio', 'vmi/nobody', '80']);
    assert.equal(code, 3);
    assert.match(stderr, /there is no virtual machine "nobody"/);
    const unused = await cluster.virtctl(['port-forward', '--stdio', 'vmi/server', '12345']);
    assert.equal(unused.code !== 0, true);
    assert.match(unused.stderr, /port 12345 of the guest default\/server: the guest refused the connection/);
  });

  await t.test('a guest has the usual ports at its address, though nobody declared them', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: port 80 of a guest cannot be opened');
    const podIP = await cluster.field('vmi', 'server', '.status.interfaces[0].ipAddress');
    assert.match(await console.command(`wget -q -O - http://${podIP}/`), HELLO);
    assert.match(await console.command(`wget -q -O - http://${podIP}:12345/ || echo refused`), /refused$/);
  });

  await t.test('a guest pings another one, and its node', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: guests have no way out');
    for (const [kind, name, path] of [
      ['vmi', 'server', '.status.interfaces[0].ipAddress'],
      ['node', await cluster.field('vmi', 'server', '.status.nodeName'), '.status.addresses[0].address'],
    ] as const) {
      const address = await cluster.field(kind, name, path);
      assert.match(await console.command(`ping -c 2 -W 10 ${address}`), / 0% packet loss/, `${kind} at ${address}`);
    }
  });

  await t.test('a Service has an endpoint and an address for guests', async (t) => {
    const said = await cluster.must('virtctl', ['expose', 'vm', 'server', '--name', 'web', '--port', '80', '--type', 'NodePort']);
    assert.equal(said, 'Service web successfully created for virtualmachine server\n');
    const podIP = await cluster.field('vmi', 'server', '.status.interfaces[0].ipAddress');
    if (!cluster.hasNetwork()) {
      t.skip('no namespace here: Services have no addresses');
      return;
    }
    const address = await cluster.field('svc', 'web', '.spec.clusterIP');
    assert.match(
      await console.command(`for try in 1 2 3 4 5; do wget -q -O - http://${address}/ && break; sleep 1; done`),
      HELLO,
      'a guest reaches the Service',
    );
    assert.match(await console.command(`wget -q -O - http://${podIP}/`), HELLO, 'and the other guest itself');
  });

  await t.test('a guest reaches the API server at its Service, and no component of ours on the loopback', async (t) => {
    if (!cluster.hasNetwork() || process.getuid?.() !== 0) return t.skip('guests have no users of their own here');
    const open = (address: string, port: string) =>
      console.command(`nc -w 5 ${address} ${port} < /dev/null > /dev/null 2>&1 && echo open || echo closed`);
    const gateway = (await console.command('ip route show default')).split(' ')[2] ?? '';
    const ofComponents = listeningOnLoopback(cluster.pid());
    assert.ok(ofComponents.length >= 3, String(ofComponents)); // the API server, virt-api and virt-handler
    for (const each of ofComponents) assert.equal(await open(gateway, each), 'closed', each);
    assert.equal(await open('10.96.0.1', '443'), 'open');
  });

  await t.test('guests look up Services and machines by name, and names elsewhere by the name server of the host', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: there is no name server');
    const podIP = await cluster.field('vmi', 'server', '.status.interfaces[0].ipAddress');
    const address = await cluster.field('svc', 'web', '.spec.clusterIP');
    const looked = async (name: string) => console.command(`nslookup ${name} 2>&1 | tail -n +3`);
    assert.match(await console.command('cat /etc/resolv.conf'), /search default\.svc\.cluster\.local .* vm\.cluster\.local/);
    assert.match(await console.command('wget -q -O - http://web/'), HELLO, 'a Service by its name');
    assert.match(await console.command('wget -q -O - http://server/'), HELLO, 'a machine by its name');
    assert.match(await console.command('wget -q -O - http://server.default/'), HELLO, 'and by that and its namespace');
    assert.match(await looked('web.default.svc.cluster.local'), new RegExp(address));
    assert.match(await looked(podIP), /server\.default\.vm\.cluster\.local/);
    assert.match(await looked('kubernetes.default.svc.cluster.local 10.96.0.10'), /10\.96\.0\.1\b/);
    assert.match(await looked('nobody.default.svc.cluster.local'), /NXDOMAIN|can't find/);
    assert.match(await cluster.must('virtctl', ['dns']), new RegExp(`^server\\.default\\.vm\\.cluster\\.local +${podIP}$`, 'm'));
    const [, hostPort = ''] = /dig @127\.0\.0\.1 -p (\d+)/.exec(await cluster.must('virtctl', ['dns', '--host'])) ?? [];
    const resolver = new Resolver({ timeout: 5000, tries: 1 });
    resolver.setServers([`127.0.0.1:${hostPort}`]);
    assert.deepEqual(await resolver.resolve4('server.default.vm.cluster.local'), [podIP], 'and from this machine');
  });

  await t.test('the API server passes requests on to the Service', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: port 80 of a guest cannot be opened');
    const at = (name: string) => `/api/v1/namespaces/default/services/${name}/proxy/`;
    assert.match(await cluster.must('kubectl', ['get', '--raw', at('web:80')]), HELLO);
    const { code, stderr } = await cluster.kubectl(['get', '--raw', at('nobody:80')]);
    assert.equal(code, 1);
    assert.match(stderr, /services "nobody" not found/);
  });

  await t.test('a NodePort is reached from the host, and only those that exist are taken there', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: Services have no addresses');
    const [, address = ''] = (await saidOf(cluster, (said) => said.startsWith('80:'))).split('=');
    const { stdout } = await run('curl', ['-s', '-m', '10', `http://${address}/`]);
    assert.match(stdout, HELLO);
    const { pasta } = JSON.parse(readFileSync(join(cluster.home, 'run/network.json'), 'utf8'));
    assert.equal(listening(pasta.pid), 1, 'pasta has the port of the web page alone');
  });

  await t.test('a port of the host that was chosen leads to the guest, is shown by ls, and is not given twice', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: Services have no addresses');
    const port = await freePort();
    const expose = (name: string) => ['expose', 'vm', 'server', '--name', name, '--port', '80', '--host-port', String(port)];
    const said = await cluster.must('virtctl', expose('chosen'));
    assert.equal(said, `Service chosen successfully created for virtualmachine server\nhttp://127.0.0.1:${port}\n`);
    assert.match((await run('curl', ['-s', '-m', '10', `http://127.0.0.1:${port}/`])).stdout, HELLO);
    assert.match(await cluster.must('virtctl', ['ls']), new RegExp(`ADDRESSES\\n[^]*server .*http://127\\.0\\.0\\.1:${port}\\b`));
    const { code, stderr } = await cluster.virtctl(expose('again'));
    assert.equal(code, 4);
    assert.match(stderr, /^error\[HOST_PORT_TAKEN\]: .*\nwhy: the Service default\/chosen has it\nfix: /);
    await cluster.must('kubectl', ['delete', 'svc', 'chosen']);
  });

  await t.test('a NodePort that another program has is served under another number, and an event says so', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: Services have no addresses');
    const nodePort = Number(await cluster.field('svc', 'web', '.spec.ports[0].nodePort'));
    const other = createServer();
    const isFree = (port: number) =>
      new Promise((resolve) => other.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)));
    let port = nodePort < 31_000 ? nodePort + 1000 : nodePort - 1000; // Services have the next ones
    while (!(await isFree(port))) port += 1;
    try {
      const patch = { spec: { ports: [{ port: 80, nodePort: port }] } };
      await cluster.must('kubectl', ['patch', 'svc', 'web', '-p', JSON.stringify(patch)]);
      await saidOf(cluster, (said) => said.startsWith(`80:${port}/TCP=`) && !said.endsWith(`:${port}`));
      const told = ['get', 'events', '--field-selector', 'reason=NodePortTaken', '-o', 'jsonpath={.items[*].message}'];
      await until(async () => /is reached at 127\.0\.0\.1:\d+ instead/.test(await cluster.must('kubectl', told)), 'the event');
    } finally {
      other.close();
    }
  });

  // The last one: the client has no network afterwards.
  await t.test('a guest that sends frames with the addresses of another one takes nothing from it', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: guests have no way out');
    const facts = () => cluster.field('vmi', 'server', '.status.interfaces[0].mac} {.status.interfaces[0].ipAddress');
    const before = await facts();
    const [mac, podIP] = before.split(' ');
    const card = (await console.command('ip route show default')).split(' ')[4] ?? '';
    await console.command(`ip link set ${card} down; ip link set ${card} address ${mac}; ip link set ${card} up`);
    await console.command(`ip addr flush dev ${card}; ip addr add ${podIP}/8 dev ${card}`);
    assert.match(await console.command(`ip addr show dev ${card}`), new RegExp(`${mac}[^]*inet ${podIP}/`));
    await console.command(`ping -c 3 -W 1 -I ${podIP} 10.96.0.1; arping -U -c 3 -I ${card} ${podIP}; udhcpc -n -q -t 1 -i ${card}`);
    assert.match(await cluster.must('kubectl', ['get', '--raw', '/api/v1/namespaces/default/services/web:80/proxy/']), HELLO);
    assert.equal(await facts(), before);
  });
});

function machine(name: string): string {
  return readFileSync('examples/vm.yaml', 'utf8').replaceAll('hello', name);
}

/** What the Service says about where the host reaches it, once that is as wanted. */
async function saidOf(cluster: EmbeddedCluster, isWanted: (said: string) => boolean): Promise<string> {
  for (const deadline = performance.now() + 30_000; ; ) {
    const said = await cluster.field('svc', 'web', HOST_ADDRESSES);
    if (isWanted(said)) return said;
    assert.ok(performance.now() < deadline, `the Service says ${JSON.stringify(said)}`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** How many TCP sockets this process listens at. */
function listening(pid: number): number {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(join(`/proc/${pid}/fd`, fd))));
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((each) => each[3] === '0A' && own.has(`socket:[${each[9]}]`)).length;
}

/** The ports that a process listens on at addresses of the loopback of its network namespace. */
function listeningOnLoopback(pid: number): string[] {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)));
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === '0A' && local.slice(6, 8) === '7F')
    .filter((each) => own.has(`socket:[${each[9]}]`))
    .map(([, local = '']) => String(Number.parseInt(local.split(':')[1] ?? '', 16)));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed meanwhile
  }
}
