/**
 * Runs one set of tests with node's runner: `unit` = beside the sources, test/integration, test/conformance and test/faults; `e2e` = real guests, and
 * a thousand simulated ones; `kubernetes` = beside a real Kubernetes; `soak` = the full counts of what the unit set does a part
 * of, and how it went for each part.
 */
import type { ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../src/base/node/folders.ts';
import { endLostClusters } from './end-lost-clusters.ts';
import { hasLostItsOwner } from './owned-folder.ts';
import { filesOf, runTests } from './test-run.ts';

/** `timeoutMs` is for one test, `fileLimitMs` for one file, `limitMs` for all of them. */
type TestSet = {
  files: string[];
  timeoutMs: number;
  fileLimitMs: number;
  limitMs: number;
  concurrency: number;
  env?: Record<string, string>;
  reporters?: string[];
  imports?: string[];
};

const MINUTE_MS = 60_000;
/** The most expensive files, at the end. */
const COSTS = { reporters: ['report-costs.ts'], imports: ['enter-cpu-group.ts'] };
/** What one process has compiled the next one loads: half the time of a small file. */
const COMPILED_ONCE = { NODE_COMPILE_CACHE: join(cacheFolder(), 'compile') };

const SETS: Record<string, TestSet> = {
  unit: {
    files: [
      'src/**/*.test.ts',
      'tools/**/*.test.ts',
      'test/integration/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/faults/*.test.ts',
      'test/faults/store-kills/*.test.ts',
    ],
    timeoutMs: 5 * MINUTE_MS,
    fileLimitMs: 8 * MINUTE_MS,
    limitMs: 35 * MINUTE_MS,
    concurrency: availableParallelism(),
    ...COSTS,
  },
  soak: {
    files: [
      'src/virt-controller/model.test.ts',
      'src/control-plane/apiserver/fuzzed-requests.test.ts',
      'src/control-plane/apiserver/verbs/watch-reconnect.test.ts',
      'src/control-plane/store/power-cut.test.ts',
      'src/control-plane/store/store.test.ts',
      'src/control-plane/workloads/stops.test.ts',
      'test/conformance/idle-watch.test.ts',
      'test/faults/api-away.test.ts',
      'test/faults/fuzzed-api.test.ts',
      'test/faults/large-write.test.ts',
      'test/faults/store-kills/store-kills.test.ts',
      'test/faults/guests/adopted-guests.test.ts',
      'test/faults/guests/disk-kills.test.ts',
      'test/faults/guests/guest-kills.test.ts',
      'test/faults/guests/migration-faults.test.ts',
      'test/faults/guests/many-moves.test.ts',
      'test/faults/guests/stopped-and-full.test.ts',
      'test/e2e/native-containers.test.ts',
      'test/e2e/shell.test.ts',
      'test/soak/*.test.ts',
      'src/virt-api/admission/admission-world.test.ts',
      'test/kubernetes/all-scenarios.test.ts',
      'test/kubernetes/soak/*.test.ts',
    ],
    timeoutMs: 60 * MINUTE_MS,
    fileLimitMs: 170 * MINUTE_MS,
    limitMs: 180 * MINUTE_MS,
    concurrency: 2,
    reporters: ['report-counts.ts'],
    env: {
      MODEL_STEPS: '1000000',
      WORKLOAD_STOPS: '1000',
      WATCH_RECONNECTS: '10000',
      WATCH_IDLE_SECONDS: '70',
      POWER_CUT: 'every-frame',
      STORE_KILLS: '1000',
      GUEST_KILLS: '200',
      DISK_KILLS: '60',
      KILLED_GUESTS: '10',
      ADOPTED_GUESTS: '50',
      MIGRATION_FAULTS: 'all',
      MANY_MOVES: '20',
      MOVED_MACHINES: '3',
      CONTAINER_KILLS: '100',
      STOPPED_SECONDS: '400',
      MUTATED_MANIFESTS: '10000',
      FUZZED_REQUESTS: '200000',
      API_AWAY_CHANGES: '10000',
      WATCHES_OF_ALL: '2000',
      DEBIAN_GUEST: '1',
      SCENARIOS: 'e2e,moves',
      E2E_FILES: 'all',
    },
  },
  kubernetes: {
    files: ['test/kubernetes/*.test.ts'],
    timeoutMs: 60 * MINUTE_MS,
    fileLimitMs: 70 * MINUTE_MS,
    limitMs: 90 * MINUTE_MS,
    concurrency: 2,
    reporters: COSTS.reporters, // by the clock: what runs in Pods is in groups of its own
  },
  e2e: {
    files: ['test/e2e/**/*.test.ts', 'test/faults/guests/*.test.ts', 'test/integration/scale/*.test.ts'],
    timeoutMs: 15 * MINUTE_MS,
    fileLimitMs: 20 * MINUTE_MS,
    limitMs: 60 * MINUTE_MS,
    concurrency: availableParallelism() + 1, // each waits now and then for something that takes no processor: a probe's period, a DHCP lease
    env: { SCALE_MACHINES: '1000', SCALE_POOL: '100' },
    ...COSTS,
  },
};

const [name = 'unit', ...patterns] = process.argv.slice(2);
const set = SETS[name];
if (!set) {
  console.error(`error: there is no set of tests named ${name}\nfix: one of ${Object.keys(SETS).join(', ')}`);
  process.exit(2);
}
const { limitMs } = set;
if (name === 'kubernetes' || name === 'soak') (await import('../test/kubernetes/prepare.ts')).prepare();
let runner: ChildProcess | undefined;
const limit = setTimeout(endAll, limitMs);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner?.kill(signal));
process.exitCode = await runTests({
  ...set,
  files: patterns.length > 0 ? patterns : set.files,
  env: { ...COMPILED_ONCE, ...set.env, ...process.env }, // smaller counts can be asked for
  canRepeat: patterns.length === 0 && name !== 'soak',
  onStart: (started) => {
    runner = started;
  },
  say: (line) => console.error(line),
});
clearTimeout(limit);
endLostClusters();
if (name === 'kubernetes' || name === 'soak') await takeDownLost();

/** Clusters of test files that were killed, by the limit or by somebody: embedded ones above, real ones here. */
async function takeDownLost(): Promise<void> {
  const { clusterFolders } = await import('./kubernetes/cluster-folders.ts');
  const { takeDown } = await import('./kubernetes/down.ts');
  for (const folder of clusterFolders().filter(hasLostItsOwner)) {
    console.error(`note: ${folder} was left behind and is taken down`);
    await takeDown(folder);
  }
}

/** Says what still runs, and ends it. */
function endAll(): void {
  console.error(`error: the tests take longer than ${limitMs / MINUTE_MS} minutes; still running:`);
  for (const { pid, file } of runner ? filesOf(runner) : []) {
    console.error(`  ${file}`);
    process.kill(pid, 'SIGKILL');
  }
  runner?.kill('SIGKILL');
}
