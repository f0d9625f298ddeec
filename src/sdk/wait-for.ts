/** Waits until a machine is as somebody wants it, without asking in a circle. */
import { vmiIs } from '../api/kubevirt/condition-reasons.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';

export type Seen = { readonly vm?: VirtualMachine; readonly vmi?: VirtualMachineInstance };

/**
 *   Running         the guest runs
 *   Ready           and its probes say that it serves
 *   AgentConnected  and its agent answers: exec works
 *   Stopped         there is no instance
 *   gone            there is neither machine nor instance
 */
export type Awaited = 'Running' | 'Ready' | 'AgentConnected' | 'Stopped' | 'gone' | ((seen: Seen) => boolean);

const IS: Readonly<Record<Exclude<Awaited, (seen: Seen) => boolean>, (seen: Seen) => boolean>> = {
  Running: ({ vmi }) => vmi?.status?.phase === 'Running',
  Ready: ({ vmi }) => vmi !== undefined && vmiIs(vmi, 'Ready'),
  AgentConnected: ({ vmi }) => vmi !== undefined && vmiIs(vmi, 'AgentConnected'),
  Stopped: ({ vm, vmi }) => vm !== undefined && vmi === undefined,
  gone: ({ vm, vmi }) => vm === undefined && vmi === undefined,
};

export type WaitOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly what: Awaited;
  readonly signal?: AbortSignal;
};

/** Throws ApiError NotFound when neither machine nor instance is there, and that is not what is waited for. */
export async function untilSeen({ client, clock, namespace, name, what, signal }: WaitOptions): Promise<Seen> {
  const isSeen = typeof what === 'function' ? what : IS[what];
  const options = signal && { signal };
  const found = { vm: await client.get(VMS, { namespace, name }, options), vmi: await client.get(VMIS, { namespace, name }, options) };
  signal?.throwIfAborted();
  if (isSeen(seenOf(found))) return seenOf(found);
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const follow = { client, clock, namespace, fieldSelector: `metadata.name=${name}`, log: silentLogger, signal: stop };
  const [vms, vmis] = [startCache({ ...follow, resource: VMS }), startCache({ ...follow, resource: VMIS })];
  try {
    await Promise.all([vms.synced, vmis.synced]);
    return await new Promise<Seen>((resolve, reject) => {
      const look = () => {
        const seen = seenOf({ vm: vms.list()[0], vmi: vmis.list()[0] });
        if (isSeen(seen)) resolve(seen);
        else if (IS.gone(seen)) reject(new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`));
      };
      stop.addEventListener('abort', () => reject(stop.reason), { once: true });
      vms.subscribe(look);
      vmis.subscribe(look);
      look();
    });
  } finally {
    over.abort();
  }
}

function seenOf({ vm, vmi }: { readonly vm: VirtualMachine | undefined; readonly vmi: VirtualMachineInstance | undefined }): Seen {
  return { ...(vm && { vm }), ...(vmi && { vmi }) };
}
