/**
 * One run of node's test runner, with what was skipped and why. Where no more than two files fail, each is run once more with nothing beside it and named:
 * what holds only alone is a fault of the test or of the product to be found, and no reason to throw a day's work away (ADR 83).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

export type TestRun = {
  readonly files: readonly string[];
  /** For one test. */
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly env: NodeJS.ProcessEnv;
  /** Beside the usual ones. */
  readonly reporters?: readonly string[];
  /** Modules of this folder that the process of each file begins with. */
  readonly imports?: readonly string[];
  readonly canRepeat: boolean;
  readonly onStart: (runner: ChildProcess) => void;
  readonly say: (line: string) => void;
  readonly stdio?: 'inherit' | 'ignore';
};

const MAX_REPEATED = 2;

/** The exit code: that of the second run where files were repeated. */
export async function runTests(run: TestRun): Promise<number> {
  const reports = mkdtempSync(join(tmpdir(), 'kubevirt-ts-failed-'));
  try {
    const { code, failed } = await runOnce(run, join(reports, 'first'));
    if (!run.canRepeat || failed.length === 0 || failed.length > MAX_REPEATED) return code;
    const names = failed.map((file) => relative('', file)).join(', ');
    run.say(`REPEATED ${failed.length}: ${names}: failed, and run once more with nothing beside`);
    const second = await runOnce({ ...run, files: failed, concurrency: 1 }, join(reports, 'second'));
    run.say(`REPEATED ${failed.length}: ${names}: ${second.code === 0 ? 'held alone; why not at first is to be found' : 'failed again'}`);
    return second.code;
  } finally {
    rmSync(reports, { recursive: true });
  }
}

async function runOnce(
  { files, timeoutMs, concurrency, env, reporters = [], imports = [], onStart, stdio = 'inherit' }: TestRun,
  report: string,
): Promise<{ code: number; failed: string[] }> {
  const toScreen = ['spec', ...['report-skips.ts', ...reporters].map((file) => join(import.meta.dirname, file))];
  const destinations = [...toScreen.map((reporter) => [reporter, 'stdout']), [join(import.meta.dirname, 'report-failed-files.ts'), report]];
  const flags = [
    '--test',
    `--test-timeout=${timeoutMs}`,
    `--test-concurrency=${concurrency}`,
    ...destinations.flatMap(([reporter, to]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${to}`]),
    ...imports.map((file) => `--import=${join(import.meta.dirname, file)}`),
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=MaxListenersExceededWarning', // each reporter listens to the one stream
  ];
  const runner = spawn(process.execPath, [...flags, ...files], { stdio, env });
  onStart(runner);
  const [code] = await once(runner, 'exit');
  return { code: code ?? 1, failed: code === null ? [] : readFileSync(report, 'utf8').split('\n').filter(Boolean) };
}
