/** How long virtctl takes to say anything, against a Node that does nothing and KubeVirt's own, where that is built; taken in turns in one run. */
import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { findUpstreamVirtctl } from '../../tools/upstream-virtctl/build.ts';

const ROUNDS = 25;
const VIRTCTL = join(resolve(import.meta.dirname, '../..'), 'bin/virtctl');
const QUESTIONS = { help: ['--help'], complete: ['__complete', 'st'], version: ['version', '--client'] } as const;

type Call = readonly [program: string, ...args: string[]];

export async function benchmark(): Promise<void> {
  const upstream = findUpstreamVirtctl();
  const calls = new Map<string, Call>([['empty', [process.execPath, '-e', '0']]]);
  for (const [name, args] of Object.entries(QUESTIONS)) {
    calls.set(name, [VIRTCTL, ...args]);
    if (upstream) calls.set(`${name}Upstream`, [upstream, ...args]);
  }
  for (const call of calls.values()) time(call); // fills the compile cache, as the first call of a user does
  const times = new Map([...calls.keys()].map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) for (const [name, call] of calls) times.get(name)?.push(time(call));
  const ms = (name: string) => median(times.get(name) ?? []);
  const ratio = (name: string) => Number((ms(name) / ms('empty')).toFixed(2));
  console.log(`empty Node start    ${ms('empty').toFixed(0)} ms`);
  for (const name of Object.keys(QUESTIONS))
    console.log(
      `virtctl ${name.padEnd(10)}  ${ms(name).toFixed(0)} ms   x ${ratio(name)}${upstream ? `   upstream ${ms(`${name}Upstream`).toFixed(0)} ms` : ''}`,
    );
  console.log(
    JSON.stringify({
      benchmark: 'cli',
      date: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`,
      rounds: ROUNDS,
      ...Object.fromEntries([...calls.keys()].map((name) => [`${name}Ms`, Math.round(ms(name))])),
      helpRatio: ratio('help'),
      completeRatio: ratio('complete'),
    }),
  );
}

function time([program, ...args]: Call): number {
  const started = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} left with ${status}`);
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
