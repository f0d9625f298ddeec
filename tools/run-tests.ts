/**
 * Runs one set of tests with node's runner: `unit` = beside the sources, test/integration and test/conformance; `e2e` = real guests, and
 * a thousand simulated ones; `kubernetes` = beside a real Kubernetes; `soak` = the full counts of what the unit set does a part of.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

type TestSet = { files: string[]; timeoutMs: number; concurrency: number; env?: Record<string, string> };

const SETS: Record<string, TestSet> = {
  unit: {
    files: ['src/**/*.test.ts', 'tools/**/*.test.ts', 'test/integration/**/*.test.ts', 'test/conformance/**/*.test.ts'],
    timeoutMs: 300_000,
    concurrency: availableParallelism(),
  },
  soak: {
    files: [
      'src/virt-controller/model.test.ts',
      'src/control-plane/apiserver/verbs/watch-reconnect.test.ts',
      'src/control-plane/store/power-cut.test.ts',
      'src/control-plane/store/store.test.ts',
      'test/conformance/idle-watch.test.ts',
      'src/virt-api/admission/admission-world.test.ts',
    ],
    timeoutMs: 3_600_000,
    concurrency: 2,
    env: {
      MODEL_STEPS: '1000000',
      WATCH_RECONNECTS: '10000',
      WATCH_IDLE_SECONDS: '70',
      POWER_CUT: 'every-frame',
      STORE_KILLS: '200',
      MUTATED_MANIFESTS: '10000',
    },
  },
  kubernetes: { files: ['test/kubernetes/**/*.test.ts'], timeoutMs: 1_800_000, concurrency: 1 },
  e2e: {
    files: ['test/e2e/**/*.test.ts', 'test/integration/scale/start-at-once.test.ts'],
    timeoutMs: 900_000,
    concurrency: 2,
    env: { SCALE_MACHINES: '1000' },
  },
};

const [name = 'unit', ...patterns] = process.argv.slice(2);
const set = SETS[name];
if (!set) {
  console.error(`error: there is no set of tests named ${name}\nfix: one of ${Object.keys(SETS).join(', ')}`);
  process.exit(2);
}
const flags = [
  '--test',
  `--test-timeout=${set.timeoutMs}`,
  `--test-concurrency=${set.concurrency}`,
  '--disable-warning=ExperimentalWarning',
];
const result = spawnSync(process.execPath, [...flags, ...(patterns.length > 0 ? patterns : set.files)], {
  stdio: 'inherit',
  env: { ...process.env, ...set.env },
});
process.exit(result.status ?? 1);
