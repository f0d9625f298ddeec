/** Before anything looks at Pods: guests that run here and that the store has never known. */

import { storeForgotGuests } from '../../base/node/forgotten-guests.ts';
import { type LivingPod, livingPods } from '../../base/node/living-pods.ts';
import { updatePodRecord } from '../../base/node/pod-record.ts';
import type { Store } from '../../control-plane/store/store.ts';

/** Throws STORE_FORGOT_GUESTS unless somebody has agreed, now (`adopt`) or before, that they run on outside of this cluster; returns them. */
export function adoptGuests(store: Store, { home, adopt }: { home: string; adopt: boolean }): readonly LivingPod[] {
  const known = new Set(store.list('core/pods/').map(({ value }) => (value['metadata'] as { uid?: string } | undefined)?.uid)); // every object has metadata
  const { clusterId } = store;
  const strangers = livingPods(home).filter(({ uid, record }) => !known.has(uid) && record?.clusterId !== clusterId);
  const asked = strangers.filter(({ record }) => record?.adoptedBy !== clusterId);
  if (asked.length > 0 && !adopt) throw storeForgotGuests(asked, { home, adopt: 'virtctl up --adopt' });
  for (const { dir } of asked) updatePodRecord(dir, { adoptedBy: clusterId });
  return strangers;
}
