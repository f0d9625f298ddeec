import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openNetwork } from '../../src/virtctl/embedded/network-namespace.ts';
import { EmbeddedCluster } from './harness.ts';

const manifest = readFileSync('examples/vm.yaml', 'utf8');
const web = { httpGet: { path: '/', port: 80 }, periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 5 };
const unready = '.status.conditions[?(@.type=="Ready")].reason';

/** A machine with these probes, made but not waited for. */
async function create(cluster: EmbeddedCluster, name: string, probes: object): Promise<void> {
  const dry = ['create', '-f', '-', '--dry-run=client', '-o', 'json'];
  const vm = JSON.parse(await cluster.must('kubectl', dry, { input: manifest.replaceAll(/\bhello\b/g, name) }));
  Object.assign(vm.spec.template.spec, probes);
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(vm) });
}

test('probes of guests, asked at the address of the Pod', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const { mode } = await openNetwork({ home: cluster.home, port: 0, env: {}, clock: systemClock });
  if (mode === 'host') return t.skip('no namespace here: port 80 of a guest cannot be opened');

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

  await t.test('a guest that is not alive any more is ended, and its strategy starts it again', async () => {
    await create(cluster, 'alive', { livenessProbe: { ...web, initialDelaySeconds: 60 } });
    await cluster.until('vm/alive', '.status.ready', 'true');
    const uid = await cluster.field('vmi', 'alive', '.metadata.uid');
    const paused = await cluster.virtctl(['pause', 'vm', 'alive']);
    assert.notEqual(paused.code, 0);
    assert.match(paused.stderr, /liveness probe/);
    await using console = cluster.console('alive');
    await console.expect(/guest ready/);
    await console.login();
    await console.command('killall httpd');
    await cluster.until('vm/alive', '.status.conditions[?(@.type=="LastShutdown")].reason', 'QEMUExited', 240);
    await cluster.until('vm/alive', '.status.ready', 'true');
    assert.notEqual(await cluster.field('vmi', 'alive', '.metadata.uid'), uid);
  });

  await t.test('a probe that cannot be asked is refused by name', async () => {
    await assert.rejects(
      create(cluster, 'agent', { readinessProbe: { exec: { command: ['true'] } } }),
      /readinessProbe\.exec.*guest agent/s,
    );
    await assert.rejects(create(cluster, 'named', { readinessProbe: { httpGet: { port: 'http' } } }), /readinessProbe\.httpGet\.port/);
  });
});
