import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../src/base/node/process-identity.ts';
import { seededRandom } from '../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import { addBusybox, BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { until } from '../../src/testing/until.ts';
import { churnUnderKills } from './container-churn.ts';
import { EmbeddedCluster } from './harness.ts';

const NAME = 'native';
/** `npm run test:soak` asks for all of them. */
const KILLS = Number(process.env['CONTAINER_KILLS'] ?? 3);
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);

test('containers of ordinary images are part of the cluster: reached, adopted, ended', { skip: skipContainers() }, async (t) => {
  await using cluster = await EmbeddedCluster.start();
  if (!cluster.hasNetwork()) return t.skip('no namespace here: Pods and Services have no addresses');
  await addBusybox(join(cluster.home, 'images'));
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: readFileSync('examples/vm.yaml', 'utf8').replaceAll('hello', 'machine') });
  await cluster.must('kubectl', ['apply', '-f', '-'], { input: JSON.stringify(WEB) });
  await cluster.must('kubectl', ['rollout', 'status', 'deployment/web', '--timeout=60s']);
  const podIP = await cluster.must('kubectl', ['get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[0].status.podIP}']);
  await cluster.until('vmi/machine', '.status.phase', 'Running');
  await using console = cluster.console('machine');
  await console.expect(/guest ready/);

  await t.test('a container reaches Services, Pods and machines by address and by name, and the API', async () => {
    // Again and again: a port of a guest is open a moment after its server.
    const get = "printf 'GET /index.html HTTP/1.0\\r\\n\\r\\n' | nc -w 5 $1 80 2> /dev/null | grep -iom 1 hello | head -n 1";
    const ask = `ask() { for try in 1 2 3 4 5; do said=$(${get}); [ "$said" ] && break; sleep 1; done; echo "$said"; }`;
    const asked = ['web', 'web.default.svc.cluster.local', podIP, 'machine'].map((name) => `echo "${name}: $(ask ${name})"`).join('\n');
    const api = 'nc -w 5 $KUBERNETES_SERVICE_HOST 443 < /dev/null && echo api; nc -w 5 10.0.2.2 6443 < /dev/null 2> /dev/null || exit 3';
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'client' }, spec: podSpec(`${ask}\n${asked}\n${api}`) };
    await cluster.must('kubectl', ['apply', '-f', '-'], {
      input: JSON.stringify({ ...pod, spec: { ...pod.spec, restartPolicy: 'Never' } }),
    });
    await cluster.until('pod/client', '.status.phase', 'Failed', 60);
    assert.equal(
      await cluster.must('kubectl', ['logs', 'client']),
      `web: hello\nweb.default.svc.cluster.local: hello\n${podIP}: hello\nmachine: hello\napi\n`,
    );
    assert.equal(await cluster.field('pod', 'client', '.status.containerStatuses[0].state.terminated.exitCode'), '3');
  });

  await t.test('a guest reaches containers at the address of their Pod and at that of their Service', async () => {
    await console.login();
    for (const host of [podIP, 'web']) assert.equal(await console.command(`wget -q -O - http://${host}/index.html`), 'hello', host);
  });

  const containers = firstProcesses(cluster.home);
  await t.test('containers survive kill -9 of the cluster, are adopted and answer; none runs twice', async () => {
    assert.equal(containers.length, 2);
    process.kill(cluster.pid(), 'SIGKILL');
    await cluster.must('virtctl', ['up']);
    assert.deepEqual(firstProcesses(cluster.home), containers);
    const count = '{.items[*].status.containerStatuses[*].restartCount}';
    assert.equal(await cluster.must('kubectl', ['get', 'pods', '-l', 'app=web', '-o', `jsonpath=${count}`]), '0 0');
    const page = ['get', '--raw', '/api/v1/namespaces/default/services/web:80/proxy/index.html'];
    await until(async () => (await cluster.kubectl(page)).stdout === 'hello\n', 'the Service to answer again');
  });

  await t.test(`${KILLS} kills during a rollout and a Job: nothing is lost, doubled or counted twice`, async (t) => {
    t.diagnostic(`seed ${SEED}: ${await churnUnderKills(cluster, { kills: KILLS, random: seededRandom(SEED) })}`);
    assert.deepEqual(firstProcesses(cluster.home), containers);
  });

  await t.test('virtctl down asks containers to end and waits for their grace period', async () => {
    const word = "trap 'sleep 1; echo goodbye > /data/word; exit 0' TERM; while :; do sleep 0.1; done";
    const [container] = podSpec(word).containers;
    const spec = {
      terminationGracePeriodSeconds: 60,
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    };
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
    const items = [
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: claim },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'polite' }, spec },
    ];
    await cluster.must('kubectl', ['apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
    await cluster.untilCondition('pod/polite', 'Ready', 60);
    await cluster.must('virtctl', ['down']);
    const volumes = join(cluster.home, 'volumes');
    const left = readdirSync(volumes, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith('/word'));
    assert.equal(left && readFileSync(join(volumes, left), 'utf8'), 'goodbye\n');
    await cluster.must('virtctl', ['up']);
    await cluster.must('kubectl', ['delete', 'pod', 'polite', '--grace-period=1']);
  });

  await t.test('a deleted Deployment and virtctl down --purge leave no process, no mount and no file', async () => {
    await cluster.must('kubectl', ['scale', 'deployment/web', '--replicas=1']);
    await until(() => firstProcesses(cluster.home).length === 1, 'one container to end');
    const left = firstProcesses(cluster.home);
    const sandboxes = holders(cluster.home);
    await cluster.must('virtctl', ['down', '--purge']);
    assert.deepEqual(
      [...left, ...sandboxes].filter((pid) => identify(pid)),
      [],
    );
    assert.equal(readFileSync('/proc/mounts', 'utf8').includes(cluster.home), false);
    assert.equal(existsSync(cluster.home), false);
  });
});

const WEB = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'page' }, data: { 'index.html': 'hello\n' } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: podSpec('exec httpd -f -p 80 -h /www', {
            readinessProbe: { httpGet: { path: '/index.html', port: 80 }, periodSeconds: 1 },
            volumeMounts: [{ name: 'page', mountPath: '/www' }],
          }),
        },
      },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } },
  ],
};

function podSpec(script: string, container: object = {}) {
  return {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: NAME, image: BUSYBOX_IMAGE, command: ['sh', '-c', script], ...container }],
    volumes: [{ name: 'page', configMap: { name: 'page' } }],
  };
}

/** Of every container that runs. */
function firstProcesses(home: string): number[] {
  return podFolders(home)
    .map((pod) => join(pod, 'containers', NAME, 'bundle/pid'))
    .flatMap((path) => (existsSync(path) ? [Number(readFileSync(path, 'utf8'))] : []))
    .filter((pid) => identify(pid))
    .sort();
}

/** The processes that hold the networks of Pods. */
function holders(home: string): number[] {
  return podFolders(home).flatMap((pod) => {
    const path = join(pod, 'sandbox.json');
    if (!existsSync(path)) return [];
    const { holder, slirp } = JSON.parse(readFileSync(path, 'utf8'));
    return [holder.pid, slirp.pid];
  });
}

function podFolders(home: string): string[] {
  const pods = join(home, 'kubelet/pods');
  return readdirSync(pods).map((uid) => join(pods, uid));
}
