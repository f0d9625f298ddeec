import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { httpsFetch } from '../../../src/base/node/https-fetch.ts';
import { signalProcess } from '../../../src/base/node/process-identity.ts';
import { loadKubeconfig } from '../../../src/client/node/kubeconfig.ts';
import { type Random, seededRandom } from '../../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { checkHistory } from '../store-kills/check-history.ts';
import { Recorder } from '../store-kills/record-history.ts';
import { countLines, lineWriter } from './numbered-lines.ts';

/** `npm run test:soak` asks for all of them. */
const KILLS = Number(process.env['GUEST_KILLS'] ?? 4);
const GUESTS = Number(process.env['KILLED_GUESTS'] ?? 3);
const SEED = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
const LONGEST_LIFE_MS = 1_500;
/** One of so many is killed while it starts. */
const EARLY_KILLS = 4;
const LOOK_EVERY_MS = 100;

const NAMES = Array.from({ length: GUESTS }, (_, n) => `line-writer-${n}`);

test(`${KILLS} kills with ${GUESTS} guests: no second QEMU, no restart, no line lost, and the history of the API is right`, {
  timeout: 600_000 + KILLS * 60_000,
}, async (t) => {
  const random = seededRandom(SEED);
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(listOf(NAMES.flatMap((name) => lineWriter(name)))) });
  for (const name of NAMES) await cluster.until(`vm/${name}`, '.status.ready', 'true');
  const disks = await disksOf(cluster);
  const lines = () => NAMES.map((name) => countLines(disks.get(name) ?? '', name));
  while (lines().includes(0)) await systemClock.sleep(LOOK_EVERY_MS);
  const facts = () =>
    cluster.must('kubectl', [
      'get',
      'vmi',
      '-o',
      'jsonpath={range .items[*]}{.metadata.uid} {.status.phaseTransitionTimestamps}{"\\n"}{end}',
    ]);
  const before = await facts();
  const guests = cluster.guestPids();
  assert.equal(guests.length, GUESTS);

  const strangers = new Set<number>();
  const looking = setInterval(() => {
    for (const pid of cluster.guestPids()) if (!guests.includes(pid)) strangers.add(pid);
  }, LOOK_EVERY_MS);
  t.after(() => clearInterval(looking));
  const api = new MortalCluster(cluster);
  const recorder = new Recorder({ fetch: api.fetch, whenServing: () => api.whenServing, random, writers: 3 });
  await recorder.start();
  let written = lines();
  for (let kill = 0; kill < KILLS; kill += 1) {
    await systemClock.sleep(random() * LONGEST_LIFE_MS);
    api.kill();
    if (kill % EARLY_KILLS === EARLY_KILLS - 1) await api.dieEarly(random);
    await api.start();
    await cluster.must('kubectl', ['wait', 'vm', '--all', '--for=jsonpath={.status.printableStatus}=Running', '--timeout=60s']);
    const now = lines();
    assert.ok(
      now.every((count, n) => count >= (written[n] ?? 0)),
      `${written} lines became ${now}`,
    );
    written = now;
    assert.deepEqual(cluster.guestPids(), guests, `after kill ${kill + 1}`);
  }
  await recorder.finish();
  const acknowledged = recorder.writes.filter(({ outcome }) => outcome === 'acknowledged').length;
  t.diagnostic(
    `seed ${SEED}: ${KILLS} kills, ${GUESTS} guests, ${lines().reduce((sum, each) => sum + each)} lines, ${acknowledged} writes acknowledged`,
  );
  assert.deepEqual(checkHistory(recorder).slice(0, 20), []);
  assert.deepEqual([...strangers], [], 'processes in the folders of Pods that were not there before');
  assert.equal(await facts(), before);
  assert.match(await restartsOf(cluster), /^(0 ?)+$/);
  while (lines().some((count, n) => count <= (written[n] ?? 0))) await systemClock.sleep(LOOK_EVERY_MS); // and they go on
});

/** The embedded process as something to kill and to ask. */
class MortalCluster {
  readonly #cluster: EmbeddedCluster;
  #agent = new Agent({ keepAlive: true });
  #serving = Promise.withResolvers<void>();

  constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster;
    this.#serving.resolve();
  }

  get whenServing(): Promise<void> {
    return this.#serving.promise;
  }

  fetch = (request: Request): Promise<Response> => {
    const { server, ca, cert, key } = loadKubeconfig(join(this.#cluster.home, 'kubeconfig'));
    const { hostname, port } = new URL(server);
    return httpsFetch(request, {
      agent: this.#agent,
      connectTo: { host: hostname, port: Number(port) },
      ca,
      cert,
      key,
      servername: 'localhost',
    });
  };

  kill(): void {
    this.#serving = Promise.withResolvers<void>();
    this.#killProcess();
  }

  /** Another start, which does not get far. */
  async dieEarly(random: Random): Promise<void> {
    const starting = this.#cluster.virtctl(['up']);
    await systemClock.sleep(random() * LONGEST_LIFE_MS);
    this.#killProcess();
    await starting;
    this.#killProcess(); // when it had not begun before
  }

  async start(): Promise<void> {
    await this.#cluster.must('virtctl', ['up']);
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true });
    this.#serving.resolve();
  }

  #killProcess(): void {
    const { process: identity } = JSON.parse(readFileSync(join(this.#cluster.home, 'run/embedded.json'), 'utf8'));
    signalProcess(identity, 'SIGKILL'); // nobody, when it has ended already
  }
}

async function disksOf(cluster: EmbeddedCluster): Promise<Map<string, string>> {
  const path = 'jsonpath={range .items[*]}{.spec.claimRef.name} {.spec.hostPath.path}{"\\n"}{end}';
  const rows = (await cluster.must('kubectl', ['get', 'pv', '-o', path])).trim().split('\n');
  return new Map(rows.map((row) => row.split(' ')).map(([name = '', folder = '']) => [name, join(folder, 'disk.img')]));
}

function restartsOf(cluster: EmbeddedCluster): Promise<string> {
  const path = 'jsonpath={.items[*].status.containerStatuses[*].restartCount}';
  return cluster.must('kubectl', ['get', 'pods', '-l', 'kubevirt.io=virt-launcher', '-o', path]);
}

function listOf(items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items };
}
