/**
 * One run of node's test runner, with what was skipped and why. Where no more than two files fail, each is run once more with nothing beside it and named:
 * what holds only alone is a fault of the test or of the product to be found, and no reason to throw a day's work away (ADR 83). So it is with a file that does
 * not end: node's runner would wait for it for ever.
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
  /** For one file, from its first look to its end. */
  readonly fileLimitMs: number;
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
/** Into how many looks the limit of a file is cut. */
const LOOKS = 30;

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

async function runOnce(run: TestRun, report: string): Promise<{ code: number; failed: string[] }> {
  const { files, timeoutMs, concurrency, env, reporters = [], imports = [], onStart, stdio = 'inherit' } = run;
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
  const looks = setInterval(endFilesThatHang({ ...run, runner }), run.fileLimitMs / LOOKS);
  const [code] = await once(runner, 'exit');
  clearInterval(looks);
  return { code: code ?? 1, failed: code === null ? [] : readFileSync(report, 'utf8').split('\n').filter(Boolean) };
}

/** A look at the files that run: one that was seen for longer than its limit is named and ended, which counts as a failure. */
function endFilesThatHang({
  runner,
  fileLimitMs,
  say,
}: Pick<TestRun, 'fileLimitMs' | 'say'> & { readonly runner: ChildProcess }): () => void {
  const firstSeen = new Map<number, number>();
  return () => {
    const now = performance.now();
    for (const { pid, file } of filesOf(runner)) {
      const seen = firstSeen.get(pid) ?? now;
      firstSeen.set(pid, seen);
      if (now - seen < fileLimitMs) continue;
      say(`error: ${file} has not ended for ${Math.round(fileLimitMs / 1000)} seconds, and is ended`);
      say('fix: a file whose tests have ended but which does not end has left a socket, a timer or a child open');
      process.kill(pid, 'SIGKILL');
    }
  };
}

/** The files that a runner has under way. */
export function filesOf(runner: ChildProcess): { readonly pid: number; readonly file: string | undefined }[] {
  try {
    const pids = readFileSync(`/proc/${runner.pid}/task/${runner.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    return pids.map((pid) => ({ pid, file: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').at(-2) }));
  } catch {
    return []; // one of them has just ended
  }
}
