/** Everything that must hold before a change is shared: a line per check with its time, the output of what failed. */
import { spawnSync } from 'node:child_process';

const CHECKS: readonly [string, string[]][] = [
  ['types', ['node_modules/typescript/bin/tsc', '--noEmit']],
  ['lint and format', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']],
  ['layers', ['tools/check-layers.ts']],
  ['generated files', ['tools/generate.ts', '--check']],
  ['unused code', ['node_modules/knip/bin/knip.js']],
  ['unit and integration tests', ['tools/run-tests.ts', 'unit']],
];

let failed = 0;
for (const [name, args] of CHECKS) {
  const started = performance.now();
  const isTests = args[0] === 'tools/run-tests.ts';
  const result = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', isTests ? 'inherit' : 'pipe', isTests ? 'inherit' : 'pipe'],
  });
  const isOk = result.status === 0;
  if (!isOk) failed += 1;
  console.log(`${isOk ? 'ok  ' : 'FAIL'} ${name.padEnd(28)} ${((performance.now() - started) / 1000).toFixed(1)}s`);
  if (!isOk && !isTests) console.log(`${result.stdout}${result.stderr}`);
}
process.exit(failed === 0 ? 0 : 1);
