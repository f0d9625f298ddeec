import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { costLines } from './report-costs.ts';

test('the ten most expensive files come first, by their time on the processors where that is known', () => {
  const elapsed = new Map(Array.from({ length: 12 }, (_, index) => [`${index}.test.ts`, index]));
  const byClock = costLines({ elapsed, used: new Map() });
  assert.equal(byClock[0], 'COSTS 66 seconds by the clock for 12 files, of these\n');
  assert.deepEqual([byClock[1], byClock.at(-1), byClock.length], ['     11.0  11.test.ts\n', '      2.0  2.test.ts\n', 11]);
  const used = new Map([
    ['idle.test.ts', 0.04],
    ['busy.test.ts', 7],
  ]);
  assert.deepEqual(costLines({ elapsed, used }), [
    'COSTS 7 seconds of a processor for 2 files, of these\n',
    '      7.0  busy.test.ts\n',
    '      0.0  idle.test.ts\n',
  ]);
});

test('what a file starts counts for it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-costs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const spin = 'for (const end = process.cpuUsage().user + 300_000; process.cpuUsage().user < end; );';
  const files = { idle: '', busy: `execFileSync(process.execPath, ['-e', ${JSON.stringify(spin)}]);` };
  for (const [name, work] of Object.entries(files))
    writeFileSync(
      join(folder, `${name}.test.mjs`),
      `import { execFileSync } from 'node:child_process'; import { test } from 'node:test'; test('x', () => { ${work} });`,
    );
  const here = (name: string) => join(import.meta.dirname, name);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // a runner of its own
  const flags = ['--test', `--import=${here('enter-cpu-group.ts')}`, `--test-reporter=${here('report-costs.ts')}`];
  const paths = Object.keys(files).map((name) => join(folder, `${name}.test.mjs`));
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, ...paths], { encoding: 'utf8', env });
  const [head = '', first = ''] = stdout.split('\n');
  assert.match(head, /^COSTS \d+ seconds (of a processor|by the clock) for 2 files/, stderr);
  assert.ok(first.endsWith(`  ${relative('', paths[1] ?? '')}`), stdout);
  assert.ok(Number.parseFloat(first) >= 0.3, stdout);
});
