/** Takes the derived machine away when this Pod ends. */
import { PODS, type Pod } from '../api/core/pod.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { isDeleting, keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import { type Task, whoseIs } from './decide.ts';

type RemoveOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly task: Task };

const LOOK_EVERY_MS = 500;
const DEFAULT_GRACE_SECONDS = 30;
/** What is left of the grace period when we stop waiting, so that we end by ourselves. */
const MARGIN_MS = 2_000;

/** Deletes the machine and waits for its end for as long as the Pod may take; a guest that takes longer goes on to shut down without us. */
export async function removeDerived({ client, clock, log, task }: RemoveOptions): Promise<void> {
  const startedAt = clock.now();
  const endsAt = startedAt + (await graceMs(client, task.pod).catch(() => DEFAULT_GRACE_SECONDS * 1000)) - MARGIN_MS;
  let isAsked = false;
  do {
    try {
      const vm = await client.get(VMS, task);
      if (!vm || whoseIs(vm, task) !== 'ours') {
        if (isAsked) log.info('the machine is gone', { object: keyOf(task) });
        return;
      }
      if (!isDeleting(vm)) await client.delete(VMS, task, { uid: vm.metadata.uid });
      if (!isAsked) log.info('delete', { object: `VirtualMachine ${keyOf(task)}`, because: task.pod ? 'its Pod ends' : 'vmctl ends' });
      isAsked = true;
    } catch (error) {
      log.warn('cannot delete the machine, trying again', { object: keyOf(task), error });
    }
    await clock.sleep(LOOK_EVERY_MS);
  } while (clock.now() < endsAt);
  log.warn(isAsked ? 'the guest still shuts down, not waiting any longer' : 'the machine could not be deleted', { object: keyOf(task) });
}

/** What whoever deletes the Pod has asked for, else what the Pod says. */
async function graceMs(client: Client, pod: Pod | undefined): Promise<number> {
  const now = pod && (await client.get(PODS, pod.metadata));
  const isSame = now?.metadata.uid === pod?.metadata.uid;
  const asked = isSame ? now?.metadata.deletionGracePeriodSeconds : undefined;
  return (asked ?? pod?.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
}
