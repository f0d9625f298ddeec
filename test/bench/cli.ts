/** How long virtctl takes to say anything, against a Node that does nothing; taken in turns in one run. */
import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';

const ROUNDS = 25;
const VIRTCTL = join(resolve(import.meta.dirname, '../..'), 'bin/virtctl');
const CALLS = {
  empty: [process.execPath, '-e', '0'],
  help: [VIRTCTL, '--help'],
  complete: [VIRTCTL, '__complete', 'st'],
  version: [VIRTCTL, 'version', '--client'],
} as const;

export async function benchmark(): Promise<void> {
  const names = Object.keys(CALLS) as (keyof typeof CALLS)[];
  for (const name of names) time(CALLS[name]); // fills the compile cache, as the first call of a user does
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) for (const name of names) times.get(name)?.push(time(CALLS[name]));
  const ms = (name: keyof typeof CALLS) => median(times.get(name) ?? []);
  const ratio = (name: keyof typeof CALLS) => Number((ms(name) / ms('empty')).toFixed(2));
  console.log(`empty Node start    ${ms('empty').toFixed(0)} ms`);
  for (const name of ['help', 'complete', 'version'] as const)
    console.log(`virtctl ${name.padEnd(10)}  ${ms(name).toFixed(0)} ms   x ${ratio(name)}`);
  console.log(
    JSON.stringify({
      benchmark: 'cli',
      date: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`,
      rounds: ROUNDS,
      ...Object.fromEntries(names.map((name) => [`${name}Ms`, Math.round(ms(name))])),
      helpRatio: ratio('help'),
      completeRatio: ratio('complete'),
    }),
  );
}

function time([program, ...args]: readonly [string, ...string[]]): number {
  const started = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} left with ${status}`);
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
