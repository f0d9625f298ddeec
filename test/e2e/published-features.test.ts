/** What is written for KubeVirt is taken: manifests of its features, the requests that scripts clean up by, and evictions. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { ANNOTATION_FAIL_FAST } from '../../src/api/kubevirt/names.ts';
import { PUBLISHED_EPHEMERAL_DISKS } from '../../src/api/launcher/mounts.ts';
import { systemClock } from '../../src/base/clock.ts';
import { EmbeddedCluster } from './harness.ts';
import { publishedCollections } from './published-collections.ts';
import { FEATURES, GUESTLESS, manifestOf, NEEDED_OBJECTS } from './published-features.ts';

const WAIT_MS = 120_000;
const SOON_MS = 30_000;
const isEmbedded = process.env['E2E_REAL_CLUSTER'] === undefined;
const TYPE_AND_REASON = 'jsonpath={range .items[*]}{.type} {.reason}{"\\n"}{end}';
const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

test('what is written for KubeVirt is taken', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const create = (items: readonly object[]) => cluster.kubectl(['create', '-f', '-'], { input: list(items) });

  const made = async (items: readonly object[]) => {
    const { code, stderr } = await create(items);
    assert.equal(code, 0, stderr);
  };

  await t.test('every manifest of a feature is taken', () => made([...NEEDED_OBJECTS, ...FEATURES.map(manifestOf)]));

  for (const { name, becomes } of FEATURES)
    await t.test(`${name} ${becomes === 'Running' ? 'runs' : `says what it waits for: ${becomes.reason}`}`, () =>
      becomes === 'Running'
        ? cluster.until(`vmi/${name}`, '.status.phase', 'Running')
        : cluster.until(`vmi/${name}`, `.status.conditions[?(@.type=="${becomes.condition}")].reason`, becomes.reason),
    );

  await t.test('whoever waits for a condition of a machine is done', async () => {
    await cluster.untilCondition('vmi/guestless', 'Ready');
    for (const condition of ['LiveMigratable', 'StorageLiveMigratable']) await cluster.untilCondition('vmi/guestless', condition);
    await cluster.untilCondition('vmi/started-paused', 'Paused');
    for (const name of ['guestless', 'started-paused', 'external-eviction', 'too-large']) {
      const published = (await cluster.field('vmi', name, '.status.conditions[*].type')).split(' ').filter(Boolean);
      assert.ok(published.includes('Ready') && published.length > 1, `${name} says ${published}`);
      const wait = (type: string, status: string) =>
        cluster.must('kubectl', ['wait', `vmi/${name}`, `--for=condition=${type}=${status}`, '--timeout=60s']);
      for (const type of published) await wait(type, await cluster.field('vmi', name, `.status.conditions[?(@.type=="${type}")].status`));
    }
  });

  await t.test('a port-forward, and so ssh, to a guest that takes no connections ends with the reason', async () => {
    await cluster.until('vmi/ports', '.status.phase', 'Running');
    const login = ['root@vmi/ports', '--known-hosts', '/dev/null', '--local-ssh-opts=-oBatchMode=yes', '-c', 'true'];
    for (const [port, command] of [
      [80, ['port-forward', '--stdio', 'vmi/ports', '80']],
      [22, ['ssh', ...login]],
    ] as const) {
      const begun = performance.now();
      const { code, stderr } = await cluster.virtctl(command);
      assert.notEqual(code, 0);
      assert.match(stderr, new RegExp(`port ${port} of the guest \\S+: `));
      assert.ok(performance.now() - begun < SOON_MS, `said after ${Math.round(performance.now() - begun)} ms`);
    }
  });

  await t.test('a launcher that is to fail does, under its gate, and its machine backs off', async () => {
    const gates = ['get', 'kv', 'kubevirt', '-n', 'kubevirt', '-o', 'jsonpath={.spec.configuration.developerConfiguration.featureGates}'];
    const before = JSON.parse((await cluster.must('kubectl', gates)) || '[]') as string[];
    const setGates = (featureGates: readonly string[]) => {
      const patch = { spec: { configuration: { developerConfiguration: { featureGates } } } };
      return cluster.must('kubectl', ['patch', 'kv', 'kubevirt', '-n', 'kubevirt', '--type=merge', '-p', JSON.stringify(patch)]);
    };
    await setGates([...before, 'LauncherFailFast']);
    try {
      const template = {
        metadata: { annotations: { [ANNOTATION_FAIL_FAST]: '' } },
        spec: { terminationGracePeriodSeconds: 0, ...GUESTLESS },
      };
      await made([machine('failing', template)]);
      await cluster.until('vm/failing', '.status.printableStatus', 'CrashLoopBackOff');
      assert.match(await cluster.field('vm', 'failing', '.status.startFailure.consecutiveFailCount'), /^[1-9]/);
      await cluster.must('kubectl', ['delete', 'vm', 'failing']);
    } finally {
      await setGates(before);
    }
  });

  await t.test('subresources say what scripts match', async () => {
    const texts: [command: string, instance: string, text: RegExp][] = [
      ['console', 'no-devices', /No serial consoles are present\./],
      ['soft-reboot', 'no-acpi', /VMI neither have the agent connected nor the ACPI feature enabled/],
      ['soft-reboot', 'started-paused', /VMI is paused/],
    ];
    for (const [command, instance, text] of texts) {
      const { code, stderr } = await cluster.virtctl([command, instance]);
      assert.notEqual(code, 0);
      assert.match(stderr, text);
    }
  });

  await t.test('a second plain console cuts the first off, without a close frame', async () => {
    await using proxy = await startProxy(cluster);
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${cluster.namespace}/virtualmachineinstances/guestless/console`;
    const connect = async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}${path}`, ['plain.kubevirt.io']);
      const closed = once(socket, 'close', { signal: AbortSignal.timeout(WAIT_MS) });
      closed.catch(() => {}); // looked at below, or not at all
      await once(socket, 'open', { signal: AbortSignal.timeout(WAIT_MS) });
      return { socket, closed };
    };
    const first = await connect();
    const second = await connect();
    assert.equal((await first.closed)[0], 1006);
    second.socket.terminate();
  });

  await t.test('why a console was cut off is in the log of virt-handler', async () => {
    const log = () =>
      isEmbedded
        ? cluster.must('virtctl', ['logs', '--system'])
        : cluster.must('kubectl', ['logs', '-n', 'kubevirt', '-l', 'kubevirt.io=virt-handler', '--tail=-1']);
    await eventually(async () => assert.match(await log(), /another client took over the console/));
  });

  await t.test('start and end are told by phases and events as scripts wait for them, without a warning', async (t) => {
    const words = ['get', 'vmi', '--watch', '-o', 'jsonpath={.metadata.name} {.status.phase}{"\\n"}'];
    const watch = spawn(cluster.kubectls.current, words, { env: cluster.environment(), stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => watch.kill());
    let seen = '';
    watch.stdout.on('data', (chunk) => {
      seen += chunk;
    });
    await eventually(async () => assert.match(seen, /^guestless Running$/m)); // from here on it misses nothing
    await made([guestless('followed')]);
    await eventually(async () => assert.match(seen, /^followed Running$/m));
    await cluster.must('kubectl', ['delete', 'vmi', 'followed']);
    const phases = [...seen.matchAll(/^followed (\w+)$/gm)].map(([, phase]) => phase).filter((phase, at, all) => phase !== all[at - 1]);
    const isRunning = phases.indexOf('Running');
    assert.deepEqual(phases.slice(0, isRunning + 1).slice(-3), ['Scheduling', 'Scheduled', 'Running']);
    assert.equal(phases.slice(isRunning).includes('Scheduled'), false, `${phases}`);
    const about = '--field-selector=involvedObject.kind=VirtualMachineInstance,involvedObject.name=followed';
    const told = async () => (await cluster.must('kubectl', ['get', 'events', about, '-o', TYPE_AND_REASON])).trim().split('\n');
    await eventually(async () => {
      const events = await told();
      for (const reason of ['SuccessfulCreate', 'Created', 'Started', 'Deleted'])
        assert.ok(events.includes(`Normal ${reason}`), `${reason} is not among ${events}`);
    });
    assert.deepEqual(
      (await told()).filter((event) => !event.startsWith('Normal ')),
      [],
    );
  });

  await t.test('whoever strips finalizers, or deletes a Pod without grace, leaves nothing behind', async () => {
    const launchersOf = (name: string) => cluster.must('kubectl', ['get', 'pods', '-l', `feature=${name}`, '-o', 'name']);
    await made([guestless('stripped'), guestless('beheaded')]);
    for (const name of ['stripped', 'beheaded']) await cluster.until(`vmi/${name}`, '.status.phase', 'Running');
    await cluster.must('kubectl', ['delete', 'vmi', 'stripped', '--wait=false']);
    const strip = ['patch', 'vmi', 'stripped', '--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]'];
    const { code, stderr } = await cluster.kubectl(strip);
    assert.ok(code === 0 || /not found|nonexistent/i.test(stderr), stderr); // it may have gone by itself
    await cluster.must('kubectl', ['delete', 'pods', '-l', 'feature=beheaded', '--grace-period=0', '--force']);
    await eventually(async () => assert.match(await cluster.field('vmi', 'beheaded', '.status.phase'), /^(Failed|Succeeded)$/));
    await cluster.must('kubectl', ['delete', 'vmi', 'beheaded']);
    for (const name of ['stripped', 'beheaded']) {
      await cluster.untilGone(`vmi/${name}`);
      await eventually(async () => assert.equal(await launchersOf(name), ''));
      const ofIt = () => cluster.guestPids().filter((pid) => commandLine(pid).includes(`guest=${cluster.namespace}_${name}`));
      await eventually(async () => assert.deepEqual(ofIt(), []));
    }
  });

  await t.test('a template with other labels is no news to the machine that runs', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { terminationGracePeriodSeconds: 0, ...GUESTLESS } };
    await made([machine('relabelled', template)]);
    await cluster.until('vm/relabelled', '.status.ready', 'true');
    const told = async () => [
      await cluster.field('vm', 'relabelled', '.status.observedGeneration'),
      await cluster.field('vmi', 'relabelled', `.metadata.annotations.kubevirt\\.io/vm-generation`),
    ];
    const before = await told();
    const patch = { spec: { template: { metadata: { labels: { a: 'c' } } } } };
    await cluster.must('kubectl', ['patch', 'vm', 'relabelled', '--type', 'merge', '-p', JSON.stringify(patch)]);
    const generation = await cluster.field('vm', 'relabelled', '.metadata.generation');
    await cluster.until('vm/relabelled', '.status.desiredGeneration', generation);
    assert.deepEqual(await told(), before);
    await cluster.must('kubectl', ['delete', 'vm', 'relabelled']);
  });

  await t.test(
    'scripts find in compute what they know from KubeVirt',
    { skip: isEmbedded && 'embedded, launchers are not entered' },
    async () => {
      const [pod = ''] = (await cluster.must('kubectl', ['get', 'pods', '-l', 'feature=cloud-init-no-cloud', '-o', 'name']))
        .trim()
        .split('\n');
      const inCompute = (...command: string[]) => cluster.must('kubectl', ['exec', pod, '-c', 'compute', '--', ...command]);
      const iso = `${PUBLISHED_EPHEMERAL_DISKS}/cloud-init-data/${cluster.namespace}/cloud-init-no-cloud/noCloud.iso`;
      const size = Number(await inCompute('stat', '--printf=%s', iso));
      assert.ok(size > 0 && size % 4096 === 0, `${iso} has ${size} bytes`);
      assert.match(await inCompute('ls', '--full-time', iso), /noCloud\.iso/);
      assert.match(await inCompute('ps', '-eo', 'comm='), /qemu-system/);
      assert.match(await inCompute('sh', '-c', `cat ${iso} | head -c 40000 | tr -d '\\0'`), /CD001/);
      const devices = await cluster.must('kubectl', ['get', 'nodes', '-o', 'jsonpath={.items[*].status.allocatable}']);
      if (existsSync('/sys/class/misc/tun')) assert.match(devices, /"devices\.kubevirt\.io\/tun":"1k"|"devices\.kubevirt\.io\/tun":"1000"/);
    },
  );

  await t.test('an eviction that somebody else has to follow is refused, and told', async () => {
    const [pod = ''] = (await cluster.must('kubectl', ['get', 'pods', '-l', 'feature=external-eviction', '-o', 'name'])).trim().split('\n');
    const name = pod.replace('pod/', '');
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: cluster.namespace } };
    const path = `/api/v1/namespaces/${cluster.namespace}/pods/${name}/eviction`;
    const { code, stderr } = await cluster.kubectl(['create', '--raw', path, '-f', '-'], { input: JSON.stringify(eviction) });
    assert.notEqual(code, 0);
    assert.match(stderr, /Eviction triggered evacuation of VMI/);
    await cluster.untilCondition('vmi/external-eviction', 'EvictionRequested');
    const node = await cluster.field('vmi', 'external-eviction', '.status.nodeName');
    assert.equal(await cluster.field('vmi', 'external-eviction', '.status.evacuationNodeName'), node);
  });

  await t.test('machines are among all', async () => {
    const all = await cluster.must('kubectl', ['get', 'all', '-o', 'name']);
    assert.match(all, /^virtualmachineinstance\.kubevirt\.io\/guestless$/m);
  });

  await t.test('a clean-up deletes the collections of every group, and nothing is left', async () => {
    for (const { path, plural, isNamespaced } of publishedCollections(cluster.namespace)) {
      // Cluster-wide kinds may have objects that an installation brings along, or that others use: none of them is meant.
      const which = isNamespaced ? '' : '?labelSelector=no=where';
      await cluster.must('kubectl', ['delete', '--raw', `${path}${which}`]);
      const { items } = JSON.parse(await cluster.must('kubectl', ['get', '--raw', `${path}${which}`]));
      assert.ok(Array.isArray(items), `${plural} have no list`);
    }
    await cluster.untilGone('vmi/guestless');
    for (const { name } of FEATURES) await cluster.kubectl(['wait', `vmi/${name}`, '--for=delete', '--timeout=240s']);
    assert.equal(await cluster.must('kubectl', ['get', 'vmi,pods', '-o', 'name']), '');
  });
});

/** One that always runs. */
function machine(name: string, template: object): object {
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name }, spec: { runStrategy: 'Always', template } };
}

/** An instance that has no guest, by a label of its own. */
function guestless(name: string): object {
  return manifestOf({ name, spec: { terminationGracePeriodSeconds: 0, ...GUESTLESS }, becomes: 'Running' });
}

/** Things that follow from what was done, but not at once. */
async function eventually(ask: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await systemClock.sleep(300);
    }
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // ended meanwhile
  }
}

/** The API without certificates, on a port of this machine. */
async function startProxy(cluster: EmbeddedCluster): Promise<AsyncDisposable & { readonly port: string }> {
  const child = spawn(cluster.kubectls.current, ['proxy', '--port=0'], {
    env: cluster.environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(WAIT_MS) });
  const port = /:(\d+)\n/.exec(String(said))?.[1] ?? assert.fail(`kubectl proxy says ${said}`);
  return {
    port,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
