/** A machine for one command: it boots, runs the command through its guest agent, and is deleted, however that ends. */
import { vmiCondition } from '../../../api/kubevirt/condition-reasons.ts';
import { type VirtualMachine, VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance, VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Clock } from '../../../base/clock.ts';
import { isApiError, messageOf, UserError } from '../../../base/errors.ts';
import { timeoutSignal } from '../../../base/timeout-signal.ts';
import { makeMachine, type Wanted } from '../../../sdk/make-machine.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { execByAgent } from '../../exec/exec-by-agent.ts';
import { createProgress } from '../../progress.ts';
import { enterMachine } from '../../shell/enter-machine.ts';
import { probeSsh } from '../../shell/probe-ssh.ts';
import { untilInterrupted } from '../image/interruptible.ts';

export type ThrowAway = {
  readonly wanted: Wanted;
  readonly command: readonly string[];
  /** The catalogue says that the image has no agent, and our key lets us in by ssh: nobody waits for an agent that never comes. */
  readonly isBySsh: boolean;
  /** How long the agent may take to answer, or the ssh server. */
  readonly agentSeconds: number;
  /** How long the command may take. */
  readonly timeoutSeconds: number;
  readonly stdin: boolean;
  /** For the program that ssh calls to reach the guest. */
  readonly connection: ConnectionFlags;
};

/** A server ends a watch after a while. */
const WATCH_AGAIN_MS = 250;
const SSH_PORT = 22;
/** It has just answered. */
const SSH_PATIENCE_MINUTES = 1;
const GONE_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 200;

/** The exit code of the command. */
export async function runThrowAway(deps: ClusterDeps, options: ThrowAway): Promise<number> {
  const { name } = options.wanted.vm.metadata;
  return untilInterrupted(deps, `the command in ${name} ended; the machine is deleted`, async (signal) => {
    // Not given up half-way: a machine that nobody knows of would stay.
    const vm = await makeMachine(options.wanted, deps);
    try {
      signal.throwIfAborted();
      return await work(deps, options, signal);
    } finally {
      await remove(deps, vm);
    }
  });
}

async function work(deps: ClusterDeps, options: ThrowAway, signal: AbortSignal): Promise<number> {
  const { wanted, command, timeoutSeconds, stdin, connection } = options;
  const { name } = wanted.vm.metadata;
  let hasAgent = true;
  await createProgress(deps.stderr, deps.clock, deps.env).step('vm', async ({ update }) => {
    hasAgent = await untilAgent(deps, options, { signal, update });
    return hasAgent ? `${name} has its agent` : `${name} has no agent, and an ssh server`;
  });
  const flags = { port: SSH_PORT, stdin, timeout: SSH_PATIENCE_MINUTES };
  const ended = hasAgent
    ? execByAgent(deps, { name, command, timeoutSeconds, stdin })
    : enterMachine(deps, { name, command, byAgent: { timeoutSeconds }, flags: { ...connection, ...flags } });
  return untilAborted(ended, signal);
}

type Waiting = { readonly signal: AbortSignal; readonly update: (text: string) => void };

/** True when the agent is connected, false when its time is over, or nobody counts on it, and an ssh server answers; a UserError when neither will be. */
async function untilAgent(deps: ClusterDeps, { wanted, agentSeconds, isBySsh }: ThrowAway, { signal, update }: Waiting): Promise<boolean> {
  const { client, namespace, clock } = deps;
  const { name } = wanted.vm.metadata;
  const patience = timeoutSignal(agentSeconds * 1000);
  const sshOpened = new AbortController();
  const either = AbortSignal.any([signal, patience, sshOpened.signal]);
  let last: VirtualMachineInstance | undefined;
  const isOpen = async () =>
    last?.status?.phase === 'Running' && (await probeSsh({ connection: deps, namespace, name, port: SSH_PORT, clock })).is === 'open';
  if (isBySsh) void untilTrue(isOpen, { clock, signal: either }).then(() => sshOpened.abort());
  try {
    for (; !either.aborted; await clock.sleep(WATCH_AGAIN_MS, either))
      for await (const event of client.watch(VMIS, { namespace, fieldSelector: `metadata.name=${name}`, signal: either })) {
        if (event.type === 'BOOKMARK') continue;
        if (event.type === 'DELETED') throw ended(name, 'somebody deleted it');
        last = event.object;
        if (vmiCondition(last, 'AgentConnected')?.status === 'True') return true;
        const problem = problemOf(last);
        if (problem) throw ended(name, problem);
        update(last.status?.phase ?? 'Pending');
      }
  } catch (error) {
    if (!either.aborted) throw error;
  } finally {
    sshOpened.abort();
  }
  signal.throwIfAborted();
  if (await isOpen()) return false;
  throw noAgent(name, agentSeconds, last);
}

/** Or until it is aborted; what fails is not true yet. */
async function untilTrue(isTrue: () => Promise<boolean>, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<void> {
  while (!signal.aborted && !(await isTrue().catch(() => false))) await clock.sleep(WATCH_AGAIN_MS, signal).catch(() => {});
}

function problemOf(vmi: VirtualMachineInstance): string | undefined {
  const synchronized = vmiCondition(vmi, 'Synchronized');
  if (synchronized?.status === 'False') return `${synchronized.reason}: ${synchronized.message}`;
  return isFinal(vmi) ? `it is ${vmi.status?.phase}${vmi.status?.reason ? `: ${vmi.status.reason}` : ''}` : undefined;
}

/** With everything of it: nothing of a machine for one command is worth keeping. It is gone when this resolves, unless that takes long. */
async function remove({ client, stderr, clock }: ClusterDeps, { metadata }: VirtualMachine): Promise<void> {
  const { name, uid } = metadata;
  try {
    await client.delete(VMS, metadata, { uid });
    const giveUpAtMs = clock.steady() + GONE_WITHIN_MS;
    while ((await client.get(VMS, metadata))?.metadata.uid === uid && clock.steady() < giveUpAtMs) await clock.sleep(LOOK_EVERY_MS);
  } catch (error) {
    if (isApiError(error, 'NotFound')) return;
    // What the command came to is worth more than this failure.
    stderr.write(`virtctl: ${name} could not be deleted: ${messageOf(error)}; virtctl delete ${name} tries again\n`);
  }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

function ended(name: string, why: string): UserError {
  return new UserError('VM_NOT_STARTED', `the machine ${name} did not get as far as its command`, { why });
}

function noAgent(name: string, seconds: number, vmi: VirtualMachineInstance | undefined): UserError {
  const isUp = vmi?.status?.phase === 'Running';
  return new UserError(
    'AGENT_MISSING',
    `neither a guest agent nor an ssh server answered in ${name} within ${seconds} s; the machine is deleted`,
    {
      why: isUp ? 'it ran: the image has no qemu-guest-agent, or needs longer' : `it was ${vmi?.status?.phase ?? 'not started yet'}`,
      fix: isUp
        ? 'take an image with an agent (virtctl run --rm tiny -- ...), let --cloud-init install qemu-guest-agent, or give it longer with --agent-timeout'
        : 'give it longer with --agent-timeout',
      exitCode: 5,
    },
  );
}
