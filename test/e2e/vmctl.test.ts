/** The examples of vmctl, the plain Pod first, with real guests, from kubectl apply to its end and through every accident; on both kinds of cluster. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { EmbeddedCluster, run } from './harness.ts';

const CONNECTIONS = 100;
/** So many answers in a row that each of a few machines gave one, but for once in a thousand. */
const ENOUGH_FOR_EACH = 20;
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
/** An ordinary user has to enter the namespace of users, too, that the network belongs to. */
const AS_WHO_IT_IS = process.getuid?.() === 0 ? [] : ['--user', '--preserve-credentials'];
/** For `skip` of a step. */
const onRealCluster = isReal && 'it takes the embedded cluster down';
const POD = readFileSync('examples/vmctl/single-pod.yaml', 'utf8');

test('a machine lives beside a Pod of vmctl', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const kubectl = (...args: string[]) => cluster.must('kubectl', args);
  const apply = (input: string, ...args: string[]) => cluster.must('kubectl', ['apply', ...args, '-f', '-'], { input });
  const uidOf = (vm: string) => cluster.field('vm', vm, '.metadata.uid');
  /** Also while the object is not there yet, which `kubectl wait` takes for an answer. */
  const eventually = async (what: string, isSo: () => Promise<boolean>, seconds = 150) => {
    for (const end = Date.now() + seconds * 1000; !(await isSo()); await systemClock.sleep(300))
      if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}\n${(await cluster.kubectl(['get', 'pod,vm', '-A'])).stdout}`);
  };
  const isThere = async (...what: string[]) => (await cluster.kubectl(['get', ...what])).code === 0;
  const isReady = async (vm: string, ...more: string[]) =>
    (await cluster.kubectl(['get', 'vm', vm, ...more, '-o', 'jsonpath={.status.ready}'])).stdout === 'true';
  const logs = async (pod: string, ...more: string[]) => (await cluster.kubectl(['logs', pod, ...more])).stdout;
  /** Each Pod of vmctl and the node that it is on, and each machine that one made. */
  const vmctlPods = () => pairs(kubectl('get', 'pod', '-l', 'app=vmctl', '-o', namesAndNodes('.spec.nodeName')));
  const machines = () => pairs(kubectl('get', 'vmi', '-l', 'app=testvm', '-o', namesAndNodes('.status.nodeName')));
  /** The process of a Pod: embedded there is one; of a real cluster, whose nodes are sets of namespaces of this machine, by the cgroup of the Pod. */
  const killVmctlOf = async (pod: string) => {
    const uid = await cluster.field('pod', pod, '.metadata.uid');
    const [pid = assert.fail(`no process of ${pod}`)] = isReal ? pidsOfPod(uid) : vmctlPids(cluster);
    process.kill(pid, 'SIGKILL');
  };
  const serviceReachesGuests = async () => {
    const prefix = isReal ? [] : ['nsenter', '--target', `${cluster.pid()}`, ...AS_WHO_IT_IS, '--net', '--'];
    const url = `http://${await cluster.field('svc', 'my-service', '.spec.clusterIP')}/`;
    const [program = '', ...args] = [...prefix, process.execPath, '-e', ASK, url];
    const ask = (count: number) => run(program, [...args, `${count}`], { timeoutMs: 240_000 });
    // A port of a guest is open a moment after its server, and a node hears of endpoints a moment after us.
    const enough = isReal ? ENOUGH_FOR_EACH : 1;
    await eventually('the first answers', async () => (await ask(enough)).stdout.trim() === `${enough} of ${enough}`, 400);
    const { stdout, stderr } = await ask(CONNECTIONS);
    assert.equal(stdout.trim(), `${CONNECTIONS} of ${CONNECTIONS}`, stderr);
  };

  if (isReal) await kubectl('create', 'rolebinding', 'here', '--role=vmctl', `--serviceaccount=${cluster.namespace}:vmctl`); // that of the example is for the namespace `default`
  /** The Pod of the examples with another name. */
  const renamed = (name: string) => example('single-pod', cluster.namespace).replace('name: vmctl', `name: ${name}`);
  for (const file of ['prototype', 'rbac', 'service', 'single-pod']) await apply(example(file, cluster.namespace));

  await t.test('it is derived from the prototype, runs, and is on the node of the Pod', async () => {
    await eventually('the machine', () => isReady('testvm-vmctl'));
    const node = await cluster.field('pod', 'vmctl', '.spec.nodeName');
    assert.equal(await cluster.field('vm', 'testvm-vmctl', '.spec.template.spec.nodeSelector.kubernetes\\.io/hostname'), node);
    assert.equal(await cluster.field('vmi', 'testvm-vmctl', '.status.nodeName'), node);
    assert.equal(await cluster.field('vm', 'testvm-vmctl', '.metadata.ownerReferences[0].name'), 'vmctl');
    assert.equal(await cluster.field('vm', 'testvm', '.status.printableStatus'), 'Stopped', 'the prototype does not run');
    assert.equal(await kubectl('get', 'vmi', '-l', 'app=testvm', '-o', 'name'), 'virtualmachineinstance.kubevirt.io/testvm-vmctl\n');
  });

  await t.test(`${CONNECTIONS} connections to a Service of the vmctl Pods reach the guest`, async (t) => {
    if (isReal) return t.skip('the machines of all nodes answer as many below');
    if (!cluster.hasNetwork()) return t.skip('no namespace here: Services have no addresses');
    await using console = cluster.console('testvm-vmctl');
    await console.expect(/guest ready/);
    await kubectl('wait', 'pod/vmctl', '--for=condition=Ready', '--timeout=100s'); // its readiness probe asks every 10 s
    await serviceReachesGuests();
  });

  await t.test('it is made again when it vanishes', async () => {
    const first = await uidOf('testvm-vmctl');
    await kubectl('delete', 'vm', 'testvm-vmctl', '--timeout=120s');
    await eventually('the next machine', () => isReady('testvm-vmctl'));
    assert.notEqual(await uidOf('testvm-vmctl'), first);
  });

  await t.test('a vmctl that is killed starts again and takes it up', async () => {
    const machine = await uidOf('testvm-vmctl');
    await killVmctlOf('vmctl');
    await eventually('the restart', async () => (await cluster.field('pod', 'vmctl', '.status.containerStatuses[0].restartCount')) === '1');
    await eventually('its first words', async () => (await logs('vmctl')).includes('keeping a machine'));
    assert.equal(await uidOf('testvm-vmctl'), machine);
  });

  await t.test('down ends vmctl with the cluster, up brings both back', { skip: onRealCluster }, async () => {
    const machine = await uidOf('testvm-vmctl');
    await cluster.must('virtctl', ['down']);
    assert.deepEqual(vmctlPids(cluster), []);
    await cluster.must('virtctl', ['up']);
    await eventually('the machine', () => isReady('testvm-vmctl'));
    await eventually('vmctl', async () => vmctlPids(cluster).length === 1 && (await logs('vmctl')).includes('keeping a machine'));
    assert.equal(await uidOf('testvm-vmctl'), machine);
  });

  await t.test('it goes with the Pod, gracefully, also by an old kubectl', async () => {
    await cluster.must('oldKubectl', ['delete', 'pod', 'vmctl', '--timeout=120s']);
    assert.equal(await isThere('vm', 'testvm-vmctl'), false, 'before the Pod has gone');
    if (!isReal) assert.deepEqual(vmctlPids(cluster), []);
  });

  await t.test('a vmctl that is killed for good leaves no machine behind', async () => {
    await apply(renamed('once').replace('containers:', 'restartPolicy: Never\n  containers:'));
    await eventually('the machine', () => isReady('testvm-once'));
    await killVmctlOf('once');
    await cluster.until('pod/once', '.status.phase', 'Failed');
    await cluster.untilGone('vm/testvm-once', 150);
    await kubectl('delete', 'pod', 'once');
  });

  await t.test(
    'Pod, machine and prototype may be in three namespaces, and the image may be called as in the manifests of KubeVirt; a Pod deleted by force leaves nothing',
    async () => {
      const [home, apps, guests] = [cluster.namespace, `${cluster.namespace}-apps`, `${cluster.namespace}-guests`];
      for (const namespace of [apps, guests]) await cluster.createNamespace(namespace);
      for (const namespace of [apps, guests]) await kubectl('apply', '-n', namespace, '-f', 'examples/vmctl/rbac.yaml');
      for (const namespace of [apps, guests, home])
        await kubectl('create', 'rolebinding', 'from-apps', '--role=vmctl', `--serviceaccount=${apps}:vmctl`, '-n', namespace);
      const args = [`--namespace=${guests}`, `--proto-namespace=${home}`, '--hostname-override=far', 'testvm'];
      const away = POD.replace('name: vmctl', 'name: away').replace('image: kubevirt-ts/vmctl:latest', 'image: quay.io/fabiand/vmctl');
      await apply(away.replace('- "testvm"', args.map((arg) => `- "${arg}"`).join('\n    ')), '-n', apps);
      await eventually('the machine', () => isReady('testvm-far', '-n', guests));
      const owners = await kubectl('get', 'vm', '-n', guests, 'testvm-far', '-o', 'jsonpath={.metadata.ownerReferences}');
      assert.equal(owners, '', 'Kubernetes forbids owners in other namespaces');
      await kubectl('delete', 'pod', '-n', apps, 'away', '--grace-period=0', '--force');
      await cluster.must('kubectl', ['wait', '-n', guests, 'vm/testvm-far', '--for=delete', '--timeout=150s'], { timeoutMs: 160_000 });
      if (!isReal) await eventually('vmctl to end', async () => vmctlPids(cluster).length === 0);
    },
  );

  await t.test('what is wrong is the last line of its log', async () => {
    const name = 'a-name-that-is-far-too-long-for-the-host-name-of-a-machine';
    const wrong: readonly [pod: string, manifest: string, says: RegExp][] = [
      [
        'lost',
        renamed('lost').replace('- "testvm"', '- "nobody"'),
        /^error\[PROTOTYPE_MISSING\]: there is no virtual machine \S+\/nobody/m,
      ],
      [name, renamed(name), /^error\[NAME_TOO_LONG\]: .* 65 characters, of 63/m],
      [
        'poor',
        renamed('poor').replace('serviceAccountName: vmctl', 'serviceAccountName: default'),
        /^error\[FORBIDDEN\]: .*may not .*create/m,
      ],
      [
        'wordy',
        renamed('wordy').replace('- "testvm"', '- "testvm"\n    - "other"'),
        /^error\[USAGE\]: vmctl takes one machine, got: testvm other/m,
      ],
    ];
    for (const [, manifest] of wrong) await apply(manifest);
    for (const [pod, , says] of wrong) await eventually(`${pod}: ${says}`, async () => says.test(await logs(pod)));
    assert.equal(await kubectl('get', 'vm', '-o', 'name'), 'virtualmachine.kubevirt.io/testvm\n', 'nothing was made');
    await kubectl('delete', 'pod', ...wrong.map(([pod]) => pod));
  });

  await t.test(
    'a Deployment and a DaemonSet, embedded also a StatefulSet, a Job and a Pod, come in one go, each Pod with its machine',
    async () => {
      const alone = ['single-pod', 'statefulset', 'job'].filter(() => !isReal); // on a cluster of three nodes six machines are enough
      if (isReal) for (const name of ['deployment', 'daemonset']) await apply(example(name, cluster.namespace));
      else await kubectl('apply', '-f', 'examples/vmctl/');
      for (const workload of ['deployment/vmctl', 'daemonset/vmctl-per-node', ...(isReal ? [] : ['statefulset/vmctl-numbered'])])
        await cluster.must('kubectl', ['rollout', 'status', workload, '--timeout=400s'], { timeoutMs: 410_000 });
      if (alone.length > 0) {
        for (const pod of ['vmctl', 'vmctl-numbered-0', 'vmctl-numbered-1']) await eventually(pod, () => isReady(`testvm-${pod}`));
        await cluster.until('job/vmctl-for-an-hour', '.status.ready', '1');
      }
      const nodes = (await kubectl('get', 'node', '-o', 'name')).trim().split('\n').length;
      const pods = await vmctlPods();
      assert.equal(pods.length, isReal ? 3 + nodes : 3 + nodes + 2 + 1 + 1);
      assert.deepEqual(
        await machines(),
        pods.map(([pod, node]) => [`testvm-${pod}`, node]),
        'each on the node of its Pod',
      );
      const onEach = await pairs(kubectl('get', 'pod', '-l', 'of=vmctl-per-node', '-o', namesAndNodes('.spec.nodeName')));
      assert.equal(new Set(onEach.map(([, node]) => node)).size, nodes, 'one on every node');
    },
  );

  await t.test(
    `${CONNECTIONS} connections reach the machines of all nodes`,
    {
      skip: !isReal && 'there is one node, and the machine of the Pod has answered as many',
    },
    async () => {
      await kubectl('wait', 'pod', '-l', 'app=vmctl', '--for=condition=Ready', '--timeout=100s');
      await serviceReachesGuests();
    },
  );

  await t.test('a machine goes with its Pod when a Deployment shrinks, and all of them with what made them', async () => {
    await kubectl('scale', 'deployment/vmctl', '--replicas=1');
    const replicas = async () => (await kubectl('get', 'pod', '-l', 'of=vmctl', '-o', 'name')).trim().split('\n').length;
    await eventually('one replica', async () => (await replicas()) === 1);
    const wanted = (await vmctlPods()).map(([pod]) => `testvm-${pod}`).join();
    await eventually('its machine alone', async () => (await machines()).map(([name]) => name).join() === wanted);
    await kubectl('delete', 'deployment,daemonset,statefulset,job,pod', '--all', '--timeout=200s');
    await eventually(
      'all machines to go',
      async () => (await kubectl('get', 'vm', '-o', 'name')) === 'virtualmachine.kubevirt.io/testvm\n',
    );
    if (!isReal) await eventually('vmctl to end', async () => vmctlPids(cluster).length === 0);
  });
});

/** For `-o`: the name of each object, and the node that stands there. */
function namesAndNodes(path: string): string {
  return `jsonpath={range .items[*]}{.metadata.name} {${path}}{"\\n"}{end}`;
}

/** Lines of two words, in the order of the first. */
async function pairs(text: Promise<string>): Promise<(readonly [string, string])[]> {
  const lines = (await text).trim().split('\n').sort();
  return lines.map((line) => [line.split(' ')[0] ?? '', line.split(' ')[1] ?? '']);
}

/** Asks a URL many times, a few at once (more the guest's own web server loses), and says how many answers were the guest's. */
const ASK = `
const [url, count] = process.argv.slice(1);
let left = Number(count), answered = 0;
const ask = async () => {
  while (left-- > 0) {
    const answer = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(60_000) });
    const text = await answer.text();
    if (/Hello from a virtual machine/.test(text)) answered += 1;
    else console.error(answer.status, text);
  }
};
const asking = Array.from({ length: 4 }, () => ask().catch((error) => console.error(String(error.cause ?? error))));
Promise.all(asking).then(() => console.log(answered + ' of ' + count));`;

/** One of the examples. They are for the namespace `default`, as vmctl is where nothing else is said; in another one its arguments name it. */
function example(name: string, namespace: string): string {
  const text = readFileSync(`examples/vmctl/${name}.yaml`, 'utf8');
  if (namespace === 'default') return text;
  const args = [`--namespace=${namespace}`, `--proto-namespace=${namespace}`, 'testvm'];
  return text.replace(/^( *)- "testvm"$/m, (_, indent: string) => args.map((arg) => `${indent}- "${arg}"`).join('\n'));
}

function vmctlPids(cluster: EmbeddedCluster): number[] {
  return cluster.guestPids().filter((pid) => commandLine(pid).includes('/vmctl.ts'));
}

function pidsOfPod(uid: string): number[] {
  const pids = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
  return pids.filter((pid) => textOf(pid, 'cgroup').includes(uid) && commandLine(pid).includes('vmctl'));
}

function commandLine(pid: number): string {
  return textOf(pid, 'cmdline');
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // ended meanwhile
  }
}
