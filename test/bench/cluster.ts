/**
 * What the product costs on a real Kubernetes of one node: a plain Pod and a machine created in turns, and bare QEMU beside them; memory of
 * each component with more and more machines (one replica each; guests small and paused, as their own memory is not the question); and
 * writes per start, from the audit log of the API server.
 */
import { readFileSync } from 'node:fs';
import { PODS } from '../../src/api/core/pod.ts';
import { type VirtualMachine, VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { BUSYBOX_IMAGE } from '../../tools/kubernetes/image-store.ts';
import { kubectl } from '../kubernetes/kubectl.ts';
import { startProductCluster } from '../kubernetes/product-cluster.ts';
import { World } from '../kubernetes/scenarios/world.ts';
import { timeBare, untilPrompt } from './bare-qemu.ts';
import { qemuPidOf, record, serialLogOf } from './cluster-bare.ts';
import { median, occasion, ratio, seconds } from './figures.ts';

const ROUNDS = 5;
const CROWD = [1, 10, 50];
const NAMESPACE = 'bench';
const COMPONENTS = ['virt-operator', 'virt-api', 'virt-controller', 'virt-handler'] as const;
const PATIENCE_MS = 600_000;

type Round = { readonly pod: number; readonly running: number; readonly login: number; readonly bare: number };
/** Resident, in MiB. All run the same Node, whose pages are in memory once: `shared` divides those among the processes that have them. */
type Memory = { readonly of: Readonly<Record<(typeof COMPONENTS)[number], number>>; readonly together: number; readonly shared: number };

export async function benchmark(): Promise<void> {
  await using cluster = await startProductCluster({ name: `bench-${process.pid}`, isAudited: true });
  const world = new World(() => cluster, NAMESPACE);
  await world.makeNamespace();
  await useOneReplica(cluster);
  const memory = new Map<number, Memory>([[0, await residentMiB(cluster)]]);
  await timeMachine(world, 'warm-up'); // images are unpacked, programs are in the page cache
  await timePod(world, 'warm-up');
  const rounds: Round[] = [];
  const writes: (readonly string[])[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const pod = await timePod(world, `plain-${round}`);
    const before = ourWrites(cluster).length;
    const { running, login, bare } = await timeMachine(world, `vm-${round}`, () => writes.push(ourWrites(cluster).slice(before)));
    rounds.push({ pod, running, login, bare });
  }
  for (const count of CROWD) {
    await crowd(world, count);
    memory.set(count, await residentMiB(cluster));
  }
  report({ rounds, writes, memory });
}

async function useOneReplica(cluster: RealCluster): Promise<void> {
  await kubectl(cluster, '-n', 'kubevirt', 'patch', 'kv', 'kubevirt', '--type=merge', '-p', '{"spec":{"infra":{"replicas":1}}}');
  const pods = async () => (await cluster.client.list(PODS, { namespace: 'kubevirt' })).items;
  await until('one replica of each is left', async () => (await pods()).length === COMPONENTS.length);
}

/** Created → Running, the same way of looking as for machines. */
async function timePod(world: World, name: string): Promise<number> {
  const container = { name: 'main', image: BUSYBOX_IMAGE, command: ['sleep', '86400'] };
  const spec = { terminationGracePeriodSeconds: 0, containers: [container] };
  const started = performance.now();
  await world.cluster.client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE }, spec });
  await until(
    `Pod ${name} runs`,
    async () => (await world.cluster.client.get(PODS, { namespace: NAMESPACE, name }))?.status?.phase === 'Running',
  );
  const took = performance.now() - started;
  await world.kubectl('delete', 'pod', name);
  return took;
}

/** Created → Running → login prompt; then the same QEMU bare, when nothing of the first is left to take its time. */
async function timeMachine(world: World, name: string, whenReady = () => {}): Promise<Omit<Round, 'pod'>> {
  const machine = world.machine(name, { spec: { terminationGracePeriodSeconds: 0 } });
  const started = performance.now();
  await world.cluster.client.create(VMS, machine as VirtualMachine);
  await until(`${name} runs`, () => isRunning(world, name));
  const running = performance.now() - started;
  const pid = qemuPidOf(NAMESPACE, name);
  const recording = record(pid);
  await untilPrompt(serialLogOf(pid));
  const login = performance.now() - started;
  await world.untilReady(name);
  whenReady();
  await world.kubectl('delete', 'vm', name, '--timeout=120s');
  return { running, login, bare: await timeBare(recording) };
}

async function isRunning({ cluster }: World, name: string): Promise<boolean> {
  return (await cluster.client.get(VMIS, { namespace: NAMESPACE, name }))?.status?.phase === 'Running';
}

/** Machines up to a number, all there at once. */
async function crowd(world: World, count: number): Promise<void> {
  const { items } = await world.cluster.client.list(VMS, { namespace: NAMESPACE });
  const names = Array.from({ length: count - items.length }, (_, index) => `small-${items.length + index}`);
  const spec = { startStrategy: 'Paused', terminationGracePeriodSeconds: 0 };
  const domain = { memory: { guest: '16Mi' }, resources: { requests: { cpu: '1m' } } }; // the node has room for all of them
  await world.apply(...names.map((name) => world.machine(name, { domain, spec })));
  await until(`${count} machines run`, async () => {
    const { items: instances } = await world.cluster.client.list(VMIS, { namespace: NAMESPACE });
    return instances.filter(({ status }) => status?.phase === 'Running').length === count;
  });
}

/** As the node sees them. */
async function residentMiB(cluster: RealCluster): Promise<Memory> {
  const fields = '$(grep VmRSS $p/status) $(grep ^Pss: $p/smaps_rollup)';
  const script = `for p in /proc/[0-9]*; do echo "$(tr '\\000' ' ' <$p/cmdline) ${fields}"; done 2>/dev/null`;
  const lines = (await cluster.exec('node1', ['sh', '-c', script])).split('\n');
  const found = COMPONENTS.map((name) => {
    const line = lines.find((each) => new RegExp(`^\\S*node .*/${name} `).test(each));
    const [, resident, share] = /VmRSS:\s+(\d+) kB Pss:\s+(\d+)/.exec(line ?? '') ?? [];
    if (!resident) throw new Error(`no process of ${name}`);
    return { name, resident: Number(resident) / 1024, share: Number(share) / 1024 };
  });
  return {
    of: Object.fromEntries(found.map(({ name, resident }) => [name, Math.round(resident)])) as Memory['of'], // an entry for each name
    together: Math.round(found.reduce((sum, { resident }) => sum + resident, 0)),
    shared: Math.round(found.reduce((sum, { share }) => sum + share, 0)),
  };
}

/** Writes of our components for machines, without events, by the audit log. */
function ourWrites(cluster: RealCluster): readonly string[] {
  return readFileSync(cluster.auditLog, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter(
      ({ user, verb, objectRef }) =>
        /^system:serviceaccount:kubevirt:/.test(user.username) &&
        /^(create|update|patch|delete)$/.test(verb) &&
        objectRef?.namespace === NAMESPACE,
    )
    .filter(({ objectRef, responseStatus }) => objectRef.resource !== 'events' && responseStatus?.code < 300)
    .map(({ user, verb, objectRef }) => `${user.username.split('-').at(-1)} ${verb} ${objectRef.resource}`);
}

type Figures = {
  readonly rounds: readonly Round[];
  readonly writes: readonly (readonly string[])[];
  readonly memory: ReadonlyMap<number, Memory>;
};

function report({ rounds, writes, memory }: Figures): void {
  const of = (part: keyof Round) => median(rounds.map((round) => round[part]));
  const [podMs, runningMs, loginMs, bareMs] = [of('pod'), of('running'), of('login'), of('bare')];
  const memoryMiB = Object.fromEntries([...memory].map(([count, { of: each, ...sums }]) => [count, { ...each, ...sums }]));
  const figures = {
    benchmark: 'cluster',
    ...occasion(),
    rounds: ROUNDS,
    podRunningMs: podMs,
    vmRunningMs: runningMs,
    runningRatio: ratio(runningMs, podMs),
    bareLoginMs: bareMs,
    vmLoginMs: loginMs,
    loginRatio: ratio(loginMs, bareMs),
    writesPerStart: median(writes.map(({ length }) => length)),
    writes: [...writes].sort((a, b) => a.length - b.length)[Math.floor(writes.length / 2)],
    memoryMiB,
  };
  console.log(`plain Pod, created to Running     ${seconds(podMs)}`);
  console.log(`machine, created to Running       ${seconds(runningMs)}   x ${figures.runningRatio}`);
  console.log(`bare QEMU to login prompt         ${seconds(bareMs)}`);
  console.log(`machine, created to login prompt  ${seconds(loginMs)}   x ${figures.loginRatio}`);
  console.log(`writes of our components a start  ${figures.writesPerStart}`);
  const row = (what: string, cells: readonly (string | number)[]) =>
    console.log(`${what.padEnd(16)}${cells.map((cell) => String(cell).padStart(16)).join('')}`);
  row('\nMiB resident', [...COMPONENTS, 'together', 'shared once']);
  for (const [count, { of: each, together, shared }] of memory)
    row(`${String(count).padStart(4)} machines`, [...COMPONENTS.map((name) => each[name]), together, shared]);
  console.log(JSON.stringify(figures));
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
