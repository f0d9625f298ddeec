/** What a guest printed on its serial port, or what the embedded cluster has to say. */
import { existsSync, statSync } from 'node:fs';
import { VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { subresourcePath } from '../../../api/kubevirt/subresource-path.ts';
import { createLineReader } from '../../../base/clean-lines.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import type { Connection, ConnectionFlags, Deps } from '../../deps.ts';
import { logPath } from '../../embedded/paths.ts';
import { fileLines } from '../../logs/follow-file.ts';
import { formatEntry } from '../../logs/format-entry.ts';
import { vmName } from '../../vm-target.ts';

type LogFlags = ConnectionFlags & {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly system: boolean;
  readonly tail?: number;
};

export async function run(deps: Deps, flags: LogFlags, ...words: string[]): Promise<void> {
  if (flags.system) return systemLogs(deps, flags, words);
  if (words.length === 0) throw usage('which machine is not said');
  const name = vmName('logs', words);
  const connection = await deps.connect(flags);
  if (flags.previous) return previousLogs(deps, connection, { name, tail: flags.tail, isFollowed: flags.follow });
  await mustRun(connection, name);
  const { openConsole, namespace } = connection;
  const stream = await openConsole({ namespace, name, isShared: true, isReadOnly: true, isReplay: !flags.follow });
  const reader = createLineReader();
  let isPast = true; // the first piece is everything that was printed before we came
  const print = (lines: readonly string[]) => {
    for (const line of isPast ? lastOf(lines, flags.tail) : lines) deps.stdout.write(`${line}\n`);
    isPast = false;
  };
  let held: string[] = [];
  for await (const chunk of stream.output) {
    held.push(...reader.push(chunk));
    if (!flags.follow) continue;
    print(held);
    held = [];
  }
  print([...held, ...reader.rest()]);
}

type Previous = { readonly name: string; readonly tail: number | undefined; readonly isFollowed: boolean };

/** The run before; of a machine that does not run, its last one. */
async function previousLogs({ stdout }: Deps, { client, namespace }: Connection, wanted: Previous): Promise<void> {
  const { name, tail, isFollowed } = wanted;
  if (isFollowed) throw usage('a run that is over prints no more, so --previous and --follow exclude each other');
  const path = subresourcePath({ resource: 'virtualmachines', namespace, name }, 'logs', { previous: true });
  const response = await client.request(path);
  const reader = createLineReader();
  const lines = [...reader.push(Buffer.from(await response.arrayBuffer())), ...reader.rest()];
  for (const line of lastOf(lines, tail)) stdout.write(`${line}\n`);
}

async function systemLogs({ home, env, stdout, clock }: Deps, flags: LogFlags, words: readonly string[]): Promise<void> {
  if (words.length > 0) throw usage('--system is the log of the cluster, not of a machine');
  const path = logPath(home);
  if (!existsSync(path)) {
    throw new UserError('NOT_SET_UP', `there is no log at ${path}`, {
      why: 'no embedded cluster was started with this data folder',
      fix: 'virtctl up',
      exitCode: 3,
    });
  }
  const level = env['KUBEVIRT_LOG'] === 'debug' ? 'debug' : 'info';
  const print = (lines: readonly string[]) => {
    for (const line of lines) stdout.write(`${line}\n`);
  };
  const readable = (lines: readonly string[]) => lines.map((line) => formatEntry(line, level)).filter((line) => line !== undefined);
  let fromByte = 0;
  if (flags.tail !== undefined) {
    fromByte = statSync(path).size;
    let past: string[] = [];
    for await (const lines of fileLines({ path, isFollowed: false, clock })) past = lastOf([...past, ...readable(lines)], flags.tail);
    print(past);
  }
  if (flags.tail !== undefined && !flags.follow) return;
  for await (const lines of fileLines({ path, isFollowed: flags.follow, fromByte, clock })) print(readable(lines));
}

function lastOf(lines: readonly string[], count: number | undefined): string[] {
  return count === undefined ? [...lines] : lines.slice(Math.max(0, lines.length - count));
}

async function mustRun({ client, namespace }: Connection, name: string): Promise<void> {
  const vmi = await client.get(VMIS, { namespace, name });
  if (vmi?.status?.phase === 'Running') return;
  const vm = await client.get(VMS, { namespace, name });
  if (!vm && !vmi) throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
  throw new UserError('VM_NOT_RUNNING', `${namespace}/${name} does not run, so it prints nothing`, {
    why: `it is ${vm?.status?.printableStatus ?? vmi?.status?.phase ?? 'new'}`,
    fix: `virtctl why ${name}`,
    exitCode: 4,
  });
}

function usage(why: string): UserError {
  return new UserError('USAGE', 'virtctl logs takes one machine, or --system', {
    why,
    fix: 'virtctl logs NAME, or virtctl logs --system',
    exitCode: 2,
  });
}
