/** Runs a program inside a guest through its agent: no network and no password needed, output and time limited. */
import type { ExecResult } from '../../api/handler/answers.ts';
import type { ExecQuestion } from '../../api/handler/questions.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { AgentSession } from './agent-session.ts';

const MOST_OUTPUT_BYTES = 1024 * 1024;
/** Two outputs in base64, and what is around them. */
const MOST_ANSWER_BYTES = 4 * MOST_OUTPUT_BYTES;
const DEFAULT_TIMEOUT_MS = 30_000;
const LONGEST_TIMEOUT_MS = 600_000;
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 1_000;

/** Answers when the program has ended. */
export async function execInGuest(
  agent: AgentSession,
  { command, input, timeoutSeconds }: ExecQuestion,
  clock: Clock,
): Promise<ExecResult> {
  const timeoutMs = timeoutSeconds === undefined ? DEFAULT_TIMEOUT_MS : Math.min(timeoutSeconds * 1000, LONGEST_TIMEOUT_MS);
  const pid = await startInGuest(agent, { command, capturesOutput: true, ...(input !== undefined && { input }) });
  const end = await endOf({ agent, clock, pid, timeoutMs });
  if (end) return end;
  throw new ApiError('Timeout', `the program still runs after ${timeoutMs / 1000} s; it keeps running in the guest as process ${pid}`);
}

/** Starts a program and returns its process number; `input` is base64. */
export async function startInGuest(
  agent: AgentSession,
  run: { readonly command: readonly string[]; readonly input?: string; readonly capturesOutput: boolean },
): Promise<number> {
  const [path, ...arg] = run.command;
  const inputData = run.input === undefined ? {} : { 'input-data': run.input };
  const started = await agent.ask({ command: 'guest-exec', arguments: { path, arg, ...inputData, 'capture-output': run.capturesOutput } });
  const pid = isObject(started) ? started['pid'] : undefined;
  if (typeof pid !== 'number') throw new Error('the guest agent did not say which process it started');
  return pid;
}

/** How a program ended; undefined when it still runs after this time. */
export async function endOf(of: { agent: AgentSession; clock: Clock; pid: number; timeoutMs: number }): Promise<ExecResult | undefined> {
  const { agent, clock, pid, timeoutMs } = of;
  const deadline = clock.steady() + timeoutMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_LOOK_MS)) {
    const status = await agent.ask({ command: 'guest-exec-status', arguments: { pid }, maxBytes: MOST_ANSWER_BYTES });
    if (!isObject(status)) throw new Error('the guest agent does not say how the process is');
    if (status['exited'] === true) return resultFrom(status);
    if (clock.steady() >= deadline) return undefined;
    await clock.sleep(pauseMs);
  }
}

function resultFrom(status: JsonObject): ExecResult {
  const { exitcode, signal } = status;
  const [stdout, isOutCut] = outputFrom(status['out-data']);
  const [stderr, isErrCut] = outputFrom(status['err-data']);
  const isTruncated = isOutCut || isErrCut || status['out-truncated'] === true || status['err-truncated'] === true;
  return {
    ...(Number.isInteger(exitcode) && { exitCode: Number(exitcode) & 0xff }),
    ...(Number.isInteger(signal) && { signal: Number(signal) & 0x7f }),
    stdout,
    stderr,
    isTruncated,
  };
}

/** Decoded and encoded again: what is not base64 goes. */
function outputFrom(data: unknown): [text: string, isCut: boolean] {
  const bytes = Buffer.from(typeof data === 'string' ? data : '', 'base64');
  return [bytes.subarray(0, MOST_OUTPUT_BYTES).toString('base64'), bytes.length > MOST_OUTPUT_BYTES];
}
