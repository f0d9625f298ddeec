/** Creates a machine if it is not there and follows it until its login prompt, showing the last line of its console. */
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { type VirtualMachine, VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { plainText } from '../../base/clean-lines.ts';
import { isApiError, UserError } from '../../base/errors.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { Client } from '../../client/client.ts';
import type { Connection } from '../deps.ts';
import type { StepResult } from '../progress.ts';

export type BootOptions = {
  readonly client: Client;
  readonly openConsole: Connection['openConsole'];
  readonly vm: VirtualMachine;
  readonly onLine: (line: string) => void;
  readonly patienceMs?: number;
};

/** Waiting for a slow guest is not failure, but a person should not wait for ever. */
const PATIENCE_MS = 180_000;

/** Returns a line about the machine; where it takes longer than anybody waits, a warning with what is still missing. */
export async function watchBoot({ patienceMs = PATIENCE_MS, ...given }: BootOptions): Promise<StepResult> {
  const { client, vm } = given;
  let last = '';
  const onLine = (line: string) => {
    last = line;
    given.onLine(line);
  };
  const options = { ...given, onLine };
  const { name, namespace = 'default' } = vm.metadata;
  const existing = await client.get(VMS, { namespace, name });
  if (existing?.status?.printableStatus === 'Running') return `${name} is running`;
  if (!existing) await client.create(VMS, vm).catch((error) => ignoreExisting(error));
  const patience = timeoutSignal(patienceMs);
  let isRunning = false;
  try {
    await untilRunning(options, namespace, patience);
    isRunning = true;
    await untilLogin(options, namespace, patience);
  } catch (error) {
    if (!patience.aborted) throw error;
    if (!isRunning) return { warning: `${name} keeps starting, it is ${last || 'Pending'}: virtctl why ${name} says what it waits for` };
    const line = plainText(last).trim();
    const said = line === '' ? 'its console is silent' : `its console says ${JSON.stringify(line)}`;
    return { warning: `${name} runs, and is not at its login prompt yet: ${said}; virtctl console ${name} shows it` };
  }
  return `${name} is running and waits at its login prompt`;
}

function ignoreExisting(error: unknown): void {
  if (!isApiError(error, 'AlreadyExists')) throw error;
}

async function untilRunning({ client, vm, onLine }: BootOptions, namespace: string, signal: AbortSignal): Promise<void> {
  const { name } = vm.metadata;
  for await (const event of client.watch(VMIS, { namespace, fieldSelector: `metadata.name=${name}`, signal })) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    const { phase = 'Pending' } = event.object.status ?? {};
    if (phase === 'Running') return;
    const synchronized = vmiCondition(event.object, 'Synchronized');
    const problem = synchronized?.status === 'False' ? synchronized : undefined;
    if (problem || phase === 'Failed') {
      throw new UserError('VM_NOT_STARTED', `the machine ${name} does not start: ${problem?.reason ?? phase}`, {
        why: problem?.message ?? event.object.status?.reason,
        fix: `virtctl why ${name}`,
      });
    }
    onLine(phase);
  }
  signal.throwIfAborted();
}

async function untilLogin({ openConsole, vm, onLine }: BootOptions, namespace: string, signal: AbortSignal): Promise<void> {
  const stream = await openConsole({ namespace, name: vm.metadata.name, isShared: true, isReadOnly: true, signal });
  let text = '';
  for await (const chunk of stream.output) {
    text = (text + chunk.toString('utf8')).slice(-4096);
    const last = text.split(/[\r\n]+/).findLast((line) => line.trim() !== '') ?? '';
    onLine(last);
    if (/login: ?$/.test(last)) {
      stream.close();
      return;
    }
  }
  signal.throwIfAborted();
}
