/** Everything that must hold before a change is shared: a line per check with its time, the output of what failed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

type Check = readonly [name: string, args: string[]];

/** As many at once as there are processors, the longest first: most of them use one. */
const CHECKS: readonly Check[] = [
  ['types', ['node_modules/typescript/bin/tsc', '--noEmit']],
  ['unused code', ['node_modules/knip/bin/knip.js']],
  ['generated files', ['tools/generate.ts', '--check']],
  ['layers', ['tools/check-layers.ts']],
  ['lint and format', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']],
];
/** After them, with the whole machine. */
const TESTS: Check = ['unit and integration tests', ['tools/run-tests.ts', 'unit']];

const left = [...CHECKS];
let failed = 0;
const work = async () => {
  for (let check = left.shift(); check; check = left.shift()) await hold(check, 'pipe');
};
await Promise.all(Array.from({ length: availableParallelism() }, work));
await hold(TESTS, 'inherit');
process.exit(failed === 0 ? 0 : 1);

async function hold([name, args]: Check, output: 'pipe' | 'inherit'): Promise<void> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', output, output] });
  const said = Promise.all([child.stdout, child.stderr].map((stream) => (stream ? text(stream) : '')));
  const [code] = await once(child, 'exit');
  const isOk = code === 0;
  if (!isOk) failed += 1;
  console.log(`${isOk ? 'ok  ' : 'FAIL'} ${name.padEnd(28)} ${((performance.now() - started) / 1000).toFixed(1)}s`);
  if (!isOk) console.log((await said).join(''));
}
