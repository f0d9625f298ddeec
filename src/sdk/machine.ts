/** One machine, by its name: everything that a person does with virtctl to one. */
import type { ExecResult as ExecAnswer } from '../api/handler/answers.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { portForwardPath, subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { base64Of, bytesOfBase64 } from '../base/base64.ts';
import type { Clock } from '../base/clock.ts';
import type { Client } from '../client/client.ts';
import { type MachineActions, machineActions, putSubresource, type Signalled } from './machine-actions.ts';
import type { ByteStream, ExecResult, OpenStream } from './streams.ts';
import { type Awaited, type Seen, untilSeen } from './wait-for.ts';
import { decideWhy } from './why/decide.ts';
import { observeWhy } from './why/observe.ts';
import type { Answer } from './why/observed.ts';

/** Everything throws ApiError with the reason that the cluster gives. */
export type Machine = Omit<MachineActions, 'delete'> & {
  readonly name: string;
  readonly namespace: string;
  /** As the cluster has it; undefined when there is none of this name. */
  get(options?: Signalled): Promise<VirtualMachine | undefined>;
  instance(options?: Signalled): Promise<VirtualMachineInstance | undefined>;
  /** A merge patch: what it names is changed, what it says null about is removed. */
  patch(change: object, options?: Signalled): Promise<VirtualMachine>;
  /**
   * Succeeds when it is gone already. Awaited, it returns when machine and instance are gone. With the `uid` of the machine that is meant, throws Conflict
   * when another one has its name by now.
   */
  delete(options?: Signalled & { readonly isAwaited?: boolean; readonly uid?: string }): Promise<void>;
  /** Resolves with what was seen; rejects when the machine is not there, and with the signal's reason. */
  waitFor(what: Awaited, options?: Signalled): Promise<Seen>;
  /** Runs a program in the guest through its agent. */
  exec(
    command: readonly string[],
    options?: Signalled & { readonly timeoutSeconds?: number; readonly input?: Uint8Array },
  ): Promise<ExecResult>;
  /** The serial console, beside other viewers, with what was printed before. */
  console(options?: Signalled): Promise<ByteStream>;
  /** A TCP connection to a port of the guest. */
  connect(port: number, options?: Signalled): Promise<ByteStream>;
  /** What the serial console has printed, of the run before where asked for. */
  logs(options?: Signalled & { readonly previous?: boolean }): Promise<string>;
  /** Why it is as it is, in a sentence, with the fix. */
  why(options?: Signalled): Promise<Answer>;
};

export type MachineOptions = {
  readonly client: Client;
  readonly openStream: OpenStream;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
};

const EXEC_TIMEOUT_SECONDS = 30;
const SIGNAL_BASE = 128;

export function createMachine({ client, openStream, clock, namespace, name }: MachineOptions): Machine {
  const at = { namespace, name };
  const actions = machineActions({ client, ...at });
  const waitFor: Machine['waitFor'] = (what, { signal } = {}) => untilSeen({ client, clock, ...at, what, ...(signal && { signal }) });

  return {
    ...at,
    get: (options) => client.get(VMS, at, options),
    instance: (options) => client.get(VMIS, at, options),
    patch: (change, options) => client.patch(VMS, at, change, options),
    ...actions,
    async delete({ isAwaited = false, ...options } = {}) {
      const { signal } = options;
      await actions.delete(options);
      if (isAwaited) await waitFor('gone', signal && { signal });
    },
    waitFor,
    async exec(command, { timeoutSeconds = EXEC_TIMEOUT_SECONDS, input, signal } = {}) {
      const body = { command, timeoutSeconds, ...(input && { input: base64Of(input) }) };
      const to = { resource: 'virtualmachineinstances', verb: 'exec' } as const;
      const response = await putSubresource({ client, ...at }, to, { ...body, ...(signal && { signal }) });
      const answer = (await response.json()) as ExecAnswer; // virt-handler makes it
      const { exitCode, signal: endedBy, stdout, stderr, isTruncated = false } = answer;
      return { exitCode: exitCode ?? SIGNAL_BASE + (endedBy ?? 0), stdout: textOf(stdout), stderr: textOf(stderr), isTruncated };
    },
    console: (options) => openStream(subresourcePath({ resource: 'virtualmachineinstances', ...at }, 'console', { shared: true }), options),
    connect: (port, options) => openStream(portForwardPath({ resource: 'virtualmachines', ...at }, port, 'tcp'), options),
    async logs({ previous = false, signal } = {}) {
      const before = subresourcePath({ resource: 'virtualmachines', ...at }, 'logs', { previous: true });
      if (previous) return (await client.request(before, signal && { signal })).text();
      const now = subresourcePath({ resource: 'virtualmachineinstances', ...at }, 'console', { shared: true, follow: false });
      await using printed = await openStream(now, signal && { signal });
      return await new Response(printed.readable).text();
    },
    why: async ({ signal } = {}) => decideWhy(await observeWhy({ client, clock, ...at, ...(signal && { signal }) })),
  };
}

function textOf(base64: string): string {
  return new TextDecoder().decode(bytesOfBase64(base64));
}
