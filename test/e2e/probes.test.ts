import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const manifest = readFileSync('examples/vm.yaml', 'utf8');
const often = { periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 5 };
const web = { ...often, httpGet: { path: '/', port: 80 } };
const guestReady = '.status.conditions[?(@.type=="GuestReady")].status';
const unready = '.status.conditions[?(@.type=="Ready")].reason';

/** A machine with these probes, made but not waited for. */
async function create(cluster: EmbeddedCluster, name: string, probes: object, guest = 'tiny'): Promise<void> {
  const dry = ['create', '-f', '-', '--dry-run=client', '-o', 'json'];
  const input = manifest.replaceAll(/\bhello\b/g, name).replace('guests/tiny', `guests/${guest}`);
  const vm = JSON.parse(await cluster.must('kubectl', dry, { input }));
  Object.assign(vm.spec.template.spec, probes);
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(vm) });
}

test('probes of guests', async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['tiny', 'agent'] });
  if (!cluster.hasNetwork()) return t.skip('no namespace here: port 80 of a guest cannot be opened');
  const inGuest = (name: string, script: string) => cluster.must('virtctl', ['exec', name, '--', 'sh', '-c', script]);
  // Their probes begin when they have booted on a busy machine, too; until then the others are looked at.
  await create(cluster, 'alive', { livenessProbe: { ...web, initialDelaySeconds: 100 } });
  await create(cluster, 'pinged', { livenessProbe: { ...often, guestAgentPing: {}, initialDelaySeconds: 100 } }, 'agent');

  await t.test('a guest is ready when its web server answers, and not before', async () => {
    await create(cluster, 'web', { readinessProbe: web });
    await cluster.until('vm/web', '.status.printableStatus', 'Running');
    assert.equal(await cluster.field('vm', 'web', '.status.ready'), 'false');
    await cluster.until('vm/web', '.status.ready', 'true');
    await using console = cluster.console('web');
    await console.login(); // the login prompt comes after the web server
  });

  await t.test('it is not ready any more when its web server is gone, and runs on', async () => {
    await using console = cluster.console('web');
    await console.type('\n');
    await console.command('killall httpd');
    await cluster.until('vm/web', '.status.ready', 'false');
    assert.equal(await cluster.field('vmi', 'web', unready), 'ContainersNotReady');
    assert.equal(await cluster.field('vm', 'web', '.status.printableStatus'), 'Running');
    assert.match(await cluster.must('virtctl', ['why', 'web']), /web is running but not ready/);
    const events = await cluster.must('kubectl', [
      'get',
      'events',
      '--field-selector',
      'reason=Unhealthy',
      '-o',
      'jsonpath={.items[*].message}',
    ]);
    assert.match(events, /Readiness probe failed: /);
    await cluster.must('kubectl', ['delete', 'vm', 'web', '--wait=false']);
  });

  await t.test('a port is a yes when the guest takes connections there, and not when only the network in front of it does', async () => {
    await create(cluster, 'port', { readinessProbe: { ...often, tcpSocket: { port: 80 } } });
    await cluster.until('vm/port', '.status.printableStatus', 'Running');
    assert.equal(await cluster.field('vm', 'port', '.status.ready'), 'false');
    await cluster.until('vm/port', '.status.ready', 'true');
    await using console = cluster.console('port');
    await console.login();
    await console.command('killall httpd');
    await cluster.until('vm/port', '.status.ready', 'false');
    assert.equal(await cluster.field('vmi', 'port', guestReady), 'False');
    assert.equal(await cluster.field('vmi', 'port', unready), 'ReadinessGatesNotReady');
    await cluster.must('kubectl', ['delete', 'vm', 'port', '--wait=false']);
  });

  await t.test('a probe that cannot be asked is refused by name', async () => {
    await assert.rejects(create(cluster, 'idle', { readinessProbe: { exec: {} } }), /readinessProbe\.exec\.command.*Required/s);
    await assert.rejects(
      create(cluster, 'other', { readinessProbe: { tcpSocket: { port: 22, host: '10.96.0.1' } } }),
      /readinessProbe\.tcpSocket\.host/,
    );
    await assert.rejects(create(cluster, 'named', { readinessProbe: { httpGet: { port: 'http' } } }), /readinessProbe\.httpGet\.port/);
  });

  await t.test('a program in the guest says whether it is ready', async () => {
    await create(cluster, 'asked', { readinessProbe: { exec: { command: ['test', '-e', '/run/ready'] }, ...often } }, 'agent');
    await cluster.untilCondition('vmi/asked', 'AgentConnected');
    await cluster.until('vmi/asked', guestReady, 'False');
    assert.equal(await cluster.field('vm', 'asked', '.status.ready'), 'false');
    await inGuest('asked', 'touch /run/ready');
    await cluster.until('vm/asked', '.status.ready', 'true');
    await inGuest('asked', 'rm /run/ready');
    await cluster.until('vm/asked', '.status.ready', 'false');
    assert.equal(await cluster.field('vm', 'asked', '.status.printableStatus'), 'Running');
    const events = ['get', 'events', '--field-selector', 'reason=Unhealthy', '-o', 'jsonpath={.items[*].message}'];
    assert.match(await cluster.must('kubectl', events), /Readiness probe failed: /);
    await cluster.must('kubectl', ['delete', 'vm', 'asked', '--wait=false']);
  });

  await t.test('a guest that is not alive any more is ended, and its strategy starts it again', async () => {
    await cluster.until('vm/alive', '.status.ready', 'true');
    const uid = await cluster.field('vmi', 'alive', '.metadata.uid');
    const paused = await cluster.virtctl(['pause', 'vm', 'alive']);
    assert.notEqual(paused.code, 0);
    assert.match(paused.stderr, /liveness probe/);
    await using console = cluster.console('alive');
    await console.login();
    await console.command('killall httpd');
    await cluster.until('vm/alive', '.status.conditions[?(@.type=="LastShutdown")].reason', 'QEMUExited', 240);
    await cluster.untilReplaced('alive', uid);
  });

  await t.test('a guest whose agent is pinged may be paused; one whose agent is gone is ended and started again', async () => {
    await cluster.untilCondition('vmi/pinged', 'AgentConnected');
    const uid = await cluster.field('vmi', 'pinged', '.metadata.uid');
    await cluster.must('virtctl', ['pause', 'vm', 'pinged']);
    await cluster.until('vm/pinged', '.status.printableStatus', 'Paused');
    await cluster.must('virtctl', ['unpause', 'vm', 'pinged']);
    await cluster.until('vm/pinged', '.status.ready', 'true');
    assert.equal(await cluster.field('vmi', 'pinged', '.metadata.uid'), uid);
    await inGuest('pinged', '(sleep 1; killall -9 qemu-ga) >/dev/null 2>&1 &');
    await cluster.until('vm/pinged', '.status.conditions[?(@.type=="LastShutdown")].reason', 'LivenessProbeFailed', 240);
    await cluster.untilReplaced('pinged', uid);
  });
});
