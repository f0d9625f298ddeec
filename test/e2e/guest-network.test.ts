/**
 * Between guests, Pods and what is outside, on both kinds of clusters: a port is open where the guest takes connections and nowhere else, and
 * pings get through. Asked from within a guest, so that nothing here needs to know how addresses of Pods are reached from this machine.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../src/testing/until.ts';
import { type ConsoleSession, EmbeddedCluster, run } from './harness.ts';

const OUTSIDE = { link: `out${process.pid}`, address: '198.18.77.7' };

test('ports and pings of guests', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  if (!cluster.hasNetwork()) return t.skip('no namespace here: guests have no way out');
  const image = { containerDisk: { image: 'localhost/guests/tiny:latest' } };
  const items = [machine('server', image), machine('client', image), machine('mute', { emptyDisk: { capacity: '16Mi' } })];
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  for (const name of ['server', 'client', 'mute']) await cluster.until(`vmi/${name}`, '.status.phase', 'Running');
  const addressOf = (name: string) => cluster.field('vmi', name, '.status.interfaces[0].ipAddress');
  await using server = cluster.console('server');
  await server.expect(/guest ready/);
  await server.login();
  await using console = cluster.console('client');
  await console.expect(/guest ready/);
  await console.login();
  await console.command('stty cols 300'); // a shell that breaks its lines is not understood

  await t.test(
    'a declared port of a guest that never answers is refused at once: at its address, at a Service, by port-forward',
    async () => {
      const address = await addressOf('mute');
      assert.equal(await attempt(console, address, 80), 'refused');
      await cluster.must('virtctl', ['expose', 'vmi', 'mute', '--name', 'mute', '--port', '80']);
      const service = await cluster.field('svc', 'mute', '.spec.clusterIP');
      await until(async () => (await attempt(console, service, 80)) === 'refused', 'the Service refuses');
      const { code, stderr } = await cluster.virtctl(['port-forward', '--stdio', 'vmi/mute', '80']);
      assert.notEqual(code, 0);
      assert.match(stderr, /port 80 of the guest \S+\/mute: the guest does not answer/);
      assert.equal(await attempt(console, address, 80), 'refused', 'also after that');
    },
  );

  await t.test('a declared port is open once somebody listens there, and refused before and after', async () => {
    const address = await addressOf('server');
    await until(async () => (await attempt(console, address, 80)) === 'open', 'the web server of the guest');
    assert.equal(await attempt(console, address, 8081), 'refused');
    await server.command('httpd -p 8081 -h /');
    await until(async () => (await attempt(console, address, 8081)) === 'open', 'it listens');
    await server.command("kill $(ps | awk '/[h]ttpd -p 8081/ {print $1}')");
    await until(async () => (await attempt(console, address, 8081)) === 'refused', 'it listens no more');
  });

  await t.test('nobody but a client is heard by a server in the guest', async () => {
    const address = await addressOf('server');
    await server.command('(sh -c "nc -l -p 8082 > /tmp/heard; echo ended >> /tmp/heard" > /dev/null 2>&1 &)');
    await server.command('sleep 8'); // several looks
    assert.equal(await server.command('cat /tmp/heard'), '');
    await console.command(`for try in 1 2 3 4 5; do echo said | nc -w 2 ${address} 8082 && break; sleep 1; done`);
    await until(async () => (await server.command('cat /tmp/heard')) === 'said\nended', 'what the client said');
  });

  await t.test('a guest that restarts refuses until its server is back', async () => {
    const address = await addressOf('server');
    await cluster.must('virtctl', ['reset', 'server']); // nobody is connected meanwhile: such a one would wait until it is back
    assert.equal(await attempt(console, address, 80), 'refused');
    await server.expect(/guest ready/);
    await until(async () => (await attempt(console, address, 80)) === 'open', 'it is back');
  });

  await t.test('a guest pings another one, a Pod, the node of a Service and an address outside', async (t) => {
    const pings = async (address: string, what: string) =>
      assert.match(await console.command(`ping -c 2 -W 10 ${address}`), / 0% packet loss/, `${what} at ${address}`);
    await pings(await addressOf('server'), 'a guest');
    const node = await cluster.field('vmi', 'server', '.status.nodeName');
    await pings(await cluster.field('node', node, '.status.addresses[?(@.type=="InternalIP")].address'), 'a node');
    await t.test('a Pod', async (t) => {
      const plain = await cluster.plainImage();
      if (plain.skip) return t.skip(plain.skip);
      await cluster.must('kubectl', ['run', 'plain', `--image=${plain.image}`, '--restart=Never', '--command', '--', 'sleep', '3600']);
      await cluster.until('pod/plain', '.status.phase', 'Running');
      await pings(await cluster.field('pod', 'plain', '.status.podIP'), 'a Pod');
      await cluster.must('kubectl', ['delete', 'pod', 'plain', '--grace-period=0', '--force']);
    });
    await t.test('outside', async (t) => {
      if (process.getuid?.() !== 0) return t.skip('only root makes an address outside of the cluster');
      if (!cluster.pingsOutside()) return t.skip('net.ipv4.ping_group_range of this host lets nobody ping');
      const ip = async (...args: string[]) => assert.equal((await run('ip', args)).code, 0, args.join(' '));
      await ip('link', 'add', OUTSIDE.link, 'type', 'bridge');
      try {
        await ip('address', 'add', `${OUTSIDE.address}/32`, 'dev', OUTSIDE.link);
        await ip('link', 'set', OUTSIDE.link, 'up');
        await pings(OUTSIDE.address, 'outside');
      } finally {
        await ip('link', 'delete', OUTSIDE.link);
      }
    });
  });
});

function machine(name: string, volume: object) {
  const ports = [80, 8081, 8082].map((port) => ({ port }));
  const devices = {
    disks: [{ name: 'root', disk: { bus: 'virtio' } }],
    interfaces: [{ name: 'default', masquerade: {}, ports }],
  };
  const spec = {
    terminationGracePeriodSeconds: 0,
    domain: { memory: { guest: '128Mi' }, devices },
    networks: [{ name: 'default', pod: {} }],
    volumes: [{ name: 'root', ...volume }],
  };
  const metadata = { name, labels: { 'kubevirt.io/vm': name } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec };
}

/** What becomes of a connection from the guest to there; `silent` when nothing has within a few seconds. */
async function attempt(console: ConsoleSession, address: string, port: number): Promise<string> {
  const asks = `nc -w 6 ${address} ${port} < /dev/null > /dev/null 2>&1`;
  const said = await console.command(
    `t=$(date +%s); ${asks} && echo open || { [ $(($(date +%s) - t)) -lt 5 ] && echo refused || echo silent; }`,
  );
  return said.trim();
}
