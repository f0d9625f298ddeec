/** What is done to a machine by one request each: all that a button does. */
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type SubresourceName, subresourcePath } from '../api/kubevirt/subresource-path.ts';
import type { VmResource } from '../api/kubevirt/subresources.ts';
import type { Client } from '../client/client.ts';
import { deleteExactly } from './delete-exactly.ts';

export type Signalled = { readonly signal?: AbortSignal };

export type MachineActions = {
  /** Of a machine that is suspended, the same as `resume`; with `isDiscarding` its saved memory is thrown away, and it boots. */
  start(options?: Signalled & { readonly isPaused?: boolean; readonly isDiscarding?: boolean }): Promise<void>;
  /** By the power button; by force after the grace period, which is the machine's own unless given. */
  stop(options?: Signalled & { readonly gracePeriodSeconds?: number }): Promise<void>;
  restart(options?: Signalled): Promise<void>;
  /** Saves its memory to a PVC and ends its instance. */
  suspend(options?: Signalled): Promise<void>;
  /** Lets it go on where it was suspended. */
  resume(options?: Signalled): Promise<void>;
  /** Asks for a dump of its memory to a PVC that is there; the status of the machine says how far it is (memoryDumpRequest). */
  memoryDump(options: Signalled & { readonly claimName: string }): Promise<void>;
  /** Lets go of the PVC of its memory dumps, which keeps the last one; ends one that is being made. */
  removeMemoryDump(options?: Signalled): Promise<void>;
  pause(options?: Signalled): Promise<void>;
  unpause(options?: Signalled): Promise<void>;
  /** Asks for a move to another node, while it runs; only to nodes with these labels, where given. */
  migrate(options?: Signalled & { readonly addedNodeSelector?: Readonly<Record<string, string>> }): Promise<void>;
  /** Succeeds when it is gone already. With the `uid` of the machine that is meant, throws Conflict when another one has its name by now. */
  delete(options?: Signalled & { readonly uid?: string }): Promise<void>;
};

export type MachineAt = { readonly client: Client; readonly namespace: string; readonly name: string };

/** Asks for a subresource of the machine or of its instance. */
export async function putSubresource(
  { client, namespace, name }: MachineAt,
  { resource, verb }: { readonly resource: VmResource; readonly verb: SubresourceName },
  { signal, ...body }: Signalled & Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  return client.request(subresourcePath({ resource, namespace, name }, verb), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

export function machineActions(at: MachineAt): MachineActions {
  const tell =
    (resource: VmResource, verb: SubresourceName) =>
    async (body?: Signalled & Readonly<Record<string, unknown>>): Promise<void> => {
      await (await putSubresource(at, { resource, verb }, body)).body?.cancel();
    };
  return {
    start: ({ isPaused, isDiscarding, ...options } = {}) =>
      tell('virtualmachines', 'start')({ ...options, ...(isPaused && { paused: true }), ...(isDiscarding && { discard: true }) }),
    stop: ({ gracePeriodSeconds, ...options } = {}) =>
      tell('virtualmachines', 'stop')({ ...options, ...(gracePeriodSeconds !== undefined && { gracePeriod: gracePeriodSeconds }) }),
    restart: tell('virtualmachines', 'restart'),
    suspend: tell('virtualmachines', 'suspend'),
    resume: tell('virtualmachines', 'resume'),
    memoryDump: tell('virtualmachines', 'memorydump'),
    removeMemoryDump: tell('virtualmachines', 'removememorydump'),
    pause: tell('virtualmachineinstances', 'pause'),
    unpause: tell('virtualmachineinstances', 'unpause'),
    migrate: tell('virtualmachines', 'migrate'),
    delete: ({ signal, uid } = {}) =>
      deleteExactly(at.client, VMS, { namespace: at.namespace, name: at.name, ...(uid !== undefined && { uid }) }, signal),
  };
}
