/** One program in a guest, through its agent; what it printed and its exit code are ours. */
import { buffer } from 'node:stream/consumers';
import type { ExecResult } from '../../api/handler/answers.ts';
import { subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import { isApiError, UserError } from '../../base/errors.ts';
import type { ClusterDeps, Output } from '../deps.ts';

export type AgentExec = {
  readonly name: string;
  readonly command: readonly string[];
  readonly timeoutSeconds: number;
  /** Gives the program our standard input, up to its end. */
  readonly stdin: boolean;
};

const MOST_INPUT_BYTES = 256 * 1024;

/** The exit code of the program, when it has ended. */
export async function execByAgent(deps: ClusterDeps, { name, command, timeoutSeconds, stdin: takesInput }: AgentExec): Promise<number> {
  const { client, namespace, stdin, stdout, stderr } = deps;
  const input = takesInput ? await buffer(stdin) : undefined;
  if (input && input.length > MOST_INPUT_BYTES)
    throw new UserError('INPUT_TOO_LARGE', `the input has ${input.length} bytes`, {
      why: `the agent takes up to ${MOST_INPUT_BYTES}`,
      fix: 'virtctl scp brings larger files into a guest',
      exitCode: 2,
    });
  const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'exec');
  const body = JSON.stringify({ command, timeoutSeconds, ...(input && { input: input.toString('base64') }) });
  const response = await client.request(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body }).catch((error) => {
    throw notStarted(error, { name, command });
  });
  const result = (await response.json()) as ExecResult; // virt-handler makes it
  await written(stdout, result.stdout);
  await written(stderr, result.stderr);
  if (result.isTruncated) stderr.write('virtctl: the program printed more than is shown\n');
  return result.exitCode ?? 128 + (result.signal ?? 0);
}

const NOT_STARTED = /Failed to execute child process .*\((?<why>[^()]+)\)/;
type NotStarted = { readonly code: string; readonly exitCode: number; readonly what: string; readonly ask: string };
/** With the exit codes of shells, and what to ask the guest. */
const WHY_NOT = new Map<string, NotStarted>([
  ['No such file or directory', { code: 'PROGRAM_NOT_FOUND', exitCode: 127, what: 'is not there', ask: 'which' }],
  ['Permission denied', { code: 'PROGRAM_NOT_EXECUTABLE', exitCode: 126, what: 'cannot be run', ask: 'ls -ld' }],
]);

/** The guest answered, and has no such program: that is no failure of the server or of the agent. */
function notStarted(error: unknown, { name, command }: Pick<AgentExec, 'name' | 'command'>): unknown {
  const why = isApiError(error, 'InternalError') ? NOT_STARTED.exec(error.message)?.groups?.['why'] : undefined;
  const found = WHY_NOT.get(why ?? '');
  if (!found) return error;
  const { code, exitCode, what, ask } = found;
  const [program = ''] = command;
  const fix = `virtctl exec ${name} -- ${ask} ${program} asks the guest`;
  return new UserError(code, `${program} ${what} in the guest ${name}`, { why, fix, exitCode, cause: error });
}

/** A program's bytes are its caller's; on a terminal they are text, and what a guest says is not obeyed there. */
function written(stream: Output, base64: string): Promise<void> {
  const bytes = Buffer.from(base64, 'base64');
  return new Promise((resolve) => stream.write(stream.isTTY ? bytes.toString() : bytes, () => resolve()));
}
