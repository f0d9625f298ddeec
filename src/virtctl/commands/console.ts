/** Connects the terminal to a guest's serial console. */

import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ApiError, UserError } from '../../base/errors.ts';
import { type ConnectionFlags, connect, machineName } from '../connect.ts';
import { type ConsoleStream, openConsole } from '../console-stream.ts';
import type { Context } from '../context.ts';

const CTRL_RIGHT_BRACKET = 29;
const CTRL_T = 20;

export async function console(this: Context, flags: ConnectionFlags & { timeout: number }, ...words: string[]): Promise<void> {
  const name = machineName('console', words);
  const connection = connect(this, flags);
  await untilRunning(connection, name, flags.timeout);
  const { stdin, stdout, stderr } = this.process;
  const turn = { isMine: true };
  const onTurn = (isMine: boolean) => {
    if (isMine === turn.isMine) return;
    turn.isMine = isMine;
    stderr.write(isMine ? '\r\n(you type again)\r\n' : '\r\n(somebody else types now; Ctrl+T takes over, Ctrl+] leaves)\r\n');
  };
  const { cluster, namespace } = connection;
  const stream = await openConsole({ cluster, namespace, name, isShared: true, onTurn });
  stderr.write(`Connected to the console of ${name}. Leave it with Ctrl+]. Press Enter for a prompt.\n`);
  const isLeft = await attach(stream, { stdin, stdout, turn });
  stderr.write(isLeft ? '\n' : `\nThe console of ${name} was closed by the other side.\n`);
}

type Terminal = { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream; readonly turn: { readonly isMine: boolean } };

/** Copies both ways until Ctrl+] (true) or until the other side ends (false). */
async function attach(stream: ConsoleStream, { stdin, stdout, turn }: Terminal): Promise<boolean> {
  let isLeft = false;
  const onInput = (bytes: Buffer) => {
    const end = bytes.indexOf(CTRL_RIGHT_BRACKET);
    if (!turn.isMine && bytes.includes(CTRL_T)) stream.takeOver();
    else if (end !== 0) stream.write(end < 0 ? bytes : bytes.subarray(0, end));
    if (end >= 0) {
      isLeft = true;
      stream.close();
    }
  };
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', onInput);
  try {
    for await (const chunk of stream.output) stdout.write(chunk);
  } finally {
    stdin.off('data', onInput);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
  }
  return isLeft;
}

async function untilRunning({ client, namespace }: ReturnType<typeof connect>, name: string, timeoutMinutes: number): Promise<void> {
  if (!(await client.get(VMS, { namespace, name })) && !(await client.get(VMIS, { namespace, name }))) {
    throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
  }
  const signal = AbortSignal.timeout(timeoutMinutes * 60_000);
  for await (const event of client.watch(VMIS, { namespace, fieldSelector: `metadata.name=${name}`, signal })) {
    if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && event.object.status?.phase === 'Running') return;
  }
  throw new UserError('VM_NOT_RUNNING', `${namespace}/${name} did not run within ${timeoutMinutes} min`, {
    fix: `virtctl start ${name}, or virtctl why ${name}`,
    exitCode: 5,
  });
}
