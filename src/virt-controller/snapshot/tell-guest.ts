/** Freezes a guest, pauses it, and lets it go on: by the subresources that anybody may use who has the right to. */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { subresourcePath } from '../../api/kubevirt/subresource-path.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, isApiError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { Freeze, Tell } from './decide.ts';
import type { Quiesce } from './observed.ts';

type Options = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

const VERBS = { freeze: 'freeze', thaw: 'unfreeze', pause: 'pause', unpause: 'unpause' } as const;
/** How long it takes at most until the instance says that its guest is paused, or runs. */
const SHOWN_TRIES = 40;
const SHOWN_MS = 250;

/**
 * What is known of the file systems of the guest afterwards. One that cannot be frozen is kept as it is; one that cannot be thawed is thawed by its
 * virt-handler when the time is over. One that cannot be paused, or let run, is an error: it is tried again.
 */
export async function tellGuest(options: Options, action: Freeze | Tell, vmi: VirtualMachineInstance): Promise<Quiesce | undefined> {
  switch (action.do) {
    case 'freeze':
    case 'thaw':
      return quiesce(options, action, vmi);
    case 'pause':
    case 'unpause':
      await stop(options, action.do, vmi);
      return undefined;
  }
}

async function quiesce(options: Options, action: Freeze | Tell, vmi: VirtualMachineInstance): Promise<Quiesce> {
  const isFreeze = action.do === 'freeze';
  try {
    await ask(options.client, action, vmi);
    return isFreeze ? 'frozen' : 'thawed';
  } catch (error) {
    const object = `VirtualMachineInstance ${keyOf(vmi.metadata)}`;
    options.log.warn(`cannot ${VERBS[action.do]} a guest`, { object, because: messageOf(error) });
    return isFreeze ? 'failed' : 'thawed';
  }
}

/** Until the instance shows it: what is decided next, by whoever is there then, depends on that. */
async function stop({ client, clock, signal }: Options, verb: 'pause' | 'unpause', vmi: VirtualMachineInstance): Promise<void> {
  try {
    await ask(client, { do: verb, because: '' }, vmi);
  } catch (error) {
    if (!isApiError(error, 'Conflict')) throw error; // it may be as it is to be
  }
  const { namespace, name, uid } = vmi.metadata;
  for (let tries = 0; tries < SHOWN_TRIES && !signal.aborted; tries++) {
    const seen = await client.get(VMIS, { namespace, name });
    if (!seen || seen.metadata.uid !== uid || vmiIs(seen, 'Paused') === (verb === 'pause')) return;
    await clock.sleep(SHOWN_MS, signal);
  }
  throw new ApiError('ServiceUnavailable', `cannot ${verb} ${keyOf(vmi.metadata)}: it does not show that it is so`);
}

async function ask(client: Client, action: Freeze | Tell, { metadata: { namespace = '', name } }: VirtualMachineInstance): Promise<void> {
  const body = action.do === 'freeze' ? { unfreezeTimeout: `${action.forSeconds}s` } : {};
  const response = await client.request(subresourcePath({ namespace, name, resource: 'virtualmachineinstances' }, VERBS[action.do]), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.body?.cancel();
}
