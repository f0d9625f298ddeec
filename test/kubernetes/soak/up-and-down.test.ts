import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { RealCluster } from '../../../tools/kubernetes/cluster.ts';
import { clusterFolder } from '../../../tools/kubernetes/cluster-folders.ts';
import { hierarchies, ip, numbersOf } from '../../../tools/kubernetes/host.ts';
import { ensurePackages } from '../../../tools/kubernetes/packages.ts';
import { planCluster } from '../../../tools/kubernetes/plan.ts';
import { findAllParts, findPart, killProcesses } from '../../../tools/kubernetes/processes.ts';
import { until } from '../../../tools/kubernetes/until.ts';
import { apply, claim, podWithClaims, untilReady } from '../kubectl.ts';
import { nodesSkipReason } from '../nodes-skip-reason.ts';

const COMMANDS = join(import.meta.dirname, '../../../tools/kubernetes');
const run = (command: string, ...args: string[]) => promisify(execFile)(join(COMMANDS, command), args);

describe('tools/kubernetes/up and down', { skip: nodesSkipReason() }, () => {
  test('down leaves nothing on the machine', async () => {
    const name = `down-${process.pid}`;
    const folder = clusterFolder(name);
    const untouched = machineWide();
    try {
      const { stdout } = await run('up', '--name', name, '--nodes', '2');
      assert.equal(stdout, `export KUBECONFIG=${join(folder, 'kubeconfig')}\n`);
      assert.equal((await run('kubeconfig', '--name', name)).stdout, `${join(folder, 'kubeconfig')}\n`);
      const cluster = RealCluster.open(name);
      await apply(cluster, claim('disk', { volumeMode: 'Block' }), podWithClaims('user', { disk: 'Block' }));
      await untilReady(cluster, 'user');
      const number = cluster.plan.number;
      const there = leftOf(folder, number);
      assert.deepEqual(
        Object.entries(there).filter(([, found]) => found.length === 0 && found !== there.mounts),
        [],
        'this test sees everything that a cluster has',
      );
      await run('down', '--name', name);
      assert.deepEqual(leftOf(folder, number), { processes: [], mounts: [], links: [], routes: [], cgroups: [], loops: [], files: [] });
      assert.deepEqual(machineWide(), untouched);
    } finally {
      await run('down', '--name', name);
    }
  });

  test('an interrupted up leaves nothing either', async () => {
    const name = `cut-${process.pid}`;
    const folder = clusterFolder(name);
    const child = spawn(join(COMMANDS, 'up'), ['--name', name], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    try {
      await until('its API server runs', () => findPart(folder, 'kube-apiserver', 'kube-apiserver').length > 0);
      const [number = -1] = numbersOf(folder);
      child.kill('SIGINT');
      assert.deepEqual(await ended, [130, null]);
      assert.deepEqual(leftOf(folder, number), { processes: [], mounts: [], links: [], routes: [], cgroups: [], loops: [], files: [] });
    } finally {
      child.kill('SIGKILL');
      await run('down', '--name', name);
    }
  });

  test('two clusters run beside each other, and one that was half killed is taken down and replaced', async () => {
    const [one, two] = [`one-${process.pid}`, `two-${process.pid}`];
    try {
      await Promise.all([run('up', '--name', one), run('up', '--name', two)]);
      const numbers = [one, two].map((name) => numbersOf(clusterFolder(name))[0]);
      assert.notEqual(numbers[0], numbers[1]);
      await RealCluster.open(two).client.request('/readyz');

      const folder = clusterFolder(one);
      await killProcesses(findPart(folder, 'etcd', 'etcd'));
      await run('up', '--name', one);
      assert.equal(numbersOf(folder).length, 1);
      assert.equal(findPart(folder, 'etcd', 'etcd').length, 1);
      await RealCluster.open(one).untilReady();
      await RealCluster.open(two).untilReady();
    } finally {
      await Promise.all([run('down', '--name', one), run('down', '--name', two)]);
    }
    for (const name of [one, two]) assert.deepEqual(findAllParts(clusterFolder(name)), []);
  });

  test('a cluster of a test that was killed goes when the next one starts', async () => {
    const name = `lost-${process.pid}`;
    const folder = clusterFolder(name);
    const module = JSON.stringify(join(COMMANDS, 'cluster.ts'));
    const script = `const { RealCluster } = await import(${module}); await RealCluster.start({ name: '${name}', isBare: true }); process.kill(process.pid, 'SIGKILL')`;
    const { signal } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]);
    assert.equal(signal, 'SIGKILL');
    assert.notEqual(findAllParts(folder).length, 0);
    await using _other = await RealCluster.start({ name: `next-${process.pid}`, isBare: true });
    assert.deepEqual(findAllParts(folder), []);
    assert.equal(existsSync(folder), false);
  });

  for (const [wrong, args, expected] of [
    ['a count of nodes that cannot be', ['--nodes', '0'], /error\[NODES_INVALID\]/],
    ['a count that is none', ['--nodes', 'three'], /error\[NODES_INVALID\]/],
    ['a name that cannot be', ['--name', '../x'], /error\[NAME_INVALID\]/],
    ['an unknown option', ['--node', '3'], /error\[USAGE\]/],
    ['an image that is not there', ['--image', '/nonexistent.tar'], /error\[IMAGE_MISSING\]/],
    ['an image that is none', ['--image', import.meta.filename], /error\[IMAGE_REFUSED\]/],
  ] as const) {
    test(`${wrong} is refused before anything is done`, () => {
      const { status, stderr } = spawnSync(join(COMMANDS, 'up'), args, { encoding: 'utf8' });
      assert.match(stderr, expected);
      assert.match(stderr, /fix: /);
      assert.equal(status, 2);
    });
  }

  test('without root, up says so', () => {
    const { status, stderr } = spawnSync(join(COMMANDS, 'up'), [], {
      encoding: 'utf8',
      uid: 65534,
      gid: 65534,
      env: { PATH: process.env['PATH'] },
    });
    assert.match(stderr, /error\[ROOT_NEEDED\]/);
    assert.equal(status, 7);
  });

  test('the kubeconfig of a cluster that does not run is not made up', () => {
    const { status, stderr } = spawnSync(join(COMMANDS, 'kubeconfig'), ['--name', 'nobody'], { encoding: 'utf8' });
    assert.match(stderr, /error\[CLUSTER_MISSING\]/);
    assert.equal(status, 3);
  });
});

/** What this one cluster has on the machine; other clusters may come and go meanwhile. */
function leftOf(folder: string, number: number) {
  const plan = planCluster(number, 9);
  const own = [plan.nodeCidr, plan.podCidr, plan.serviceCidr].map(startOf);
  const cgroups = hierarchies()
    .map((root) => join(root, plan.cgroup))
    .filter(existsSync);
  return {
    processes: [...findAllParts(folder).map(({ pid }) => pid), ...processesNaming(folder)],
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(folder)),
    links: readdirSync('/sys/class/net').filter((name) => new RegExp(`^${plan.bridge}(n\\d+)?$`).test(name)),
    routes: ip('-4', 'route')
      .split('\n')
      .filter((line) => own.some((start) => line.startsWith(start))),
    cgroups,
    loops: loopFiles().filter((file) => file.startsWith(folder)),
    files: existsSync(folder) ? [folder] : [],
  };
}

/** `10.250.0.` of 10.250.0.0/24. */
function startOf(cidr: string): string {
  const [address = '', bits] = cidr.split('/');
  return `${address
    .split('.')
    .slice(0, Number(bits) / 8)
    .join('.')}.`;
}

/** What no cluster changes at all. */
function machineWide() {
  const nft = join(ensurePackages(), 'usr/sbin/nft');
  const libraries = join(ensurePackages(), 'usr/lib/x86_64-linux-gnu');
  return {
    firewall: execFileSync(nft, ['list', 'ruleset'], { encoding: 'utf8', env: { LD_LIBRARY_PATH: libraries } }),
    namespaces: existsSync('/run/netns') ? readdirSync('/run/netns') : [],
    loopsOfDeadNodes: loopFiles().filter((file) => file === '/').length, // what a kubelet held, once its mounts are gone
    forwarding: readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8'),
  };
}

/** Processes whose command line has the folder in it, such as those of containers' shims. */
function processesNaming(folder: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        return false; // gone
      }
    })
    .map(Number);
}

function loopFiles(): string[] {
  return readdirSync('/sys/block')
    .map((name) => `/sys/block/${name}/loop/backing_file`)
    .filter(existsSync)
    .map((path) => readFileSync(path, 'utf8').trim());
}
