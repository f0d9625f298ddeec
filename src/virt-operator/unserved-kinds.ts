/**
 * Which kinds of an installation this cluster does not have. Looked at once: whoever upgrades a cluster replaces its Pods, this one too, and whoever
 * installs the operator of Prometheus later restarts virt-operator.
 */
import { NEWER_KINDS } from '../api/kubevirt/installed-kinds-table.ts';
import type { Resource } from '../api/resource.ts';
import type { Clock } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Client } from '../client/client.ts';

const ASK_AGAIN_MS = 2_000;
/** Roles of an older release know nothing of these kinds; those of this one may come a moment late. */
const REFUSALS_AT_MOST = 5;

type Asking = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

export async function unservedKinds(asking: Asking, labelSelector: string): Promise<readonly Resource[]> {
  const answers = await Promise.all(NEWER_KINDS.map((resource) => isServed(resource, labelSelector, asking)));
  return NEWER_KINDS.filter((_, index) => !answers[index]);
}

async function isServed(resource: Resource, labelSelector: string, { client, clock, log, signal }: Asking): Promise<boolean> {
  for (let refusals = 0; !signal.aborted; await clock.sleep(ASK_AGAIN_MS, signal)) {
    try {
      await client.list(resource, { labelSelector });
      return true;
    } catch (error) {
      if (isApiError(error, 'NotFound')) return false;
      if (isApiError(error, 'Forbidden') && ++refusals === REFUSALS_AT_MOST) return false;
      log.warn('cannot see whether there is a kind, trying again', { kind: resource.kind, error });
    }
  }
  return false;
}
