import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster, run } from './harness.ts';

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
    assert.equal(code !== 0, true);
    assert.match(stderr, /virtualmachineinstances.kubevirt.io "nobody" not found/);
  });

  await t.test('a guest has the usual ports at its address, though nobody declared them', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: port 80 of a guest cannot be opened');
    const podIP = await cluster.field('vmi', 'server', '.status.interfaces[0].ipAddress');
    assert.match(await console.command(`wget -q -O - http://${podIP}/`), HELLO);
    assert.match(await console.command(`wget -q -O - http://${podIP}:12345/ || echo refused`), /refused$/);
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

  await t.test('the API server passes requests on to the Service', async (t) => {
    if (!cluster.hasNetwork()) return t.skip('no namespace here: port 80 of a guest cannot be opened');
    const at = (name: string) => `/api/v1/namespaces/default/services/${name}/proxy/`;
    assert.match(await cluster.must('kubectl', ['get', '--raw', at('web:80')]), HELLO);
    const { code, stderr } = await cluster.kubectl(['get', '--raw', at('nobody:80')]);
    assert.equal(code, 1);
    assert.match(stderr, /services "nobody" not found/);
  });

  await t.test('a NodePort is reached from the host', async (t) => {
    const nodePort = Number(await cluster.field('svc', 'web', '.spec.ports[0].nodePort'));
    if (!cluster.hasNetwork() || !listensOn(cluster.home, nodePort)) {
      t.skip(cluster.hasNetwork() ? 'another cluster on this machine has the NodePorts' : 'no namespace here: Services have no addresses');
      return;
    }
    const { stdout } = await run('curl', ['-s', '-m', '10', `http://127.0.0.1:${nodePort}/`]);
    assert.match(stdout, HELLO);
  });
});

function machine(name: string): string {
  return readFileSync('examples/vm.yaml', 'utf8').replaceAll('hello', name);
}

/** Of several clusters on a machine one has a NodePort: the one whose pasta holds the socket that listens there. */
function listensOn(home: string, port: number): boolean {
  const { pasta } = JSON.parse(readFileSync(join(home, 'run/network.json'), 'utf8'));
  const at = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listener = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((each) => each[1] === at && each[3] === '0A');
  const folder = `/proc/${pasta.pid}/fd`;
  return readdirSync(folder).some((fd) => readlinkSync(join(folder, fd)) === `socket:[${listener?.[9]}]`);
}
