/** What is written down of a Pod in its folder, for whoever has to know it without an API. Pure. */
import type { Pod } from '../../api/core/pod.ts';
import type { PodRecord, PodUser } from '../../base/node/pod-record.ts';
import { DEFAULT_GRACE_SECONDS } from './decide-containers.ts';

type Known = {
  readonly uid: string;
  readonly podIP: string;
  readonly user: PodUser | undefined;
  readonly clusterId: string | undefined;
};

export function podRecordOf({ metadata, spec }: Pod, { uid, podIP, user, clusterId }: Known): PodRecord {
  const { namespace = '', name, ownerReferences } = metadata;
  const owner = ownerReferences?.find(({ controller }) => controller);
  return {
    uid,
    namespace,
    name,
    podIP,
    ...(user && { user }),
    ...(clusterId !== undefined && { clusterId }),
    ...(owner && { owner: `${owner.kind} ${owner.name}` }),
    graceSeconds: spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
  };
}
