/** `npm run bench -- NAME [FLAGS]`: a table for people, then one line of JSON with every figure. */
const BENCHMARKS: Record<string, () => Promise<{ benchmark: (args: readonly string[]) => Promise<void> }>> = {
  admission: () => import('./admission.ts'),
  apiserver: () => import('./apiserver.ts'),
  'first-hour': () => import('./first-hour.ts'),
  start: () => import('./start.ts'),
  cluster: () => import('./cluster.ts'),
  cli: () => import('./cli.ts'),
  disks: () => import('./disks.ts'),
  metrics: () => import('./metrics.ts'),
  migration: () => import('./migration.ts'),
  scale: () => import('./scale.ts'),
  ui: () => import('./ui.ts'),
  workloads: () => import('./workloads.ts'),
};

const name = process.argv[2] ?? '';
const load = BENCHMARKS[name];
if (!load) {
  console.error(`error: there is no benchmark named ${JSON.stringify(name)}\nfix: npm run bench -- ${Object.keys(BENCHMARKS).join('|')}`);
  process.exit(2);
}
await (await load()).benchmark(process.argv.slice(3));
