/** PersistentVolumeClaims: they wait until somebody binds them, and ask for no less than they have. */
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { forbiddenCause } from '../../../base/causes.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { Strategy } from '../types/resource-type.ts';

const REQUEST = 'spec.resources.requests.storage';

export const volumeClaimStrategy: Strategy = {
  prepareCreate: (object) => ({ ...object, status: { phase: 'Pending' } }),
  validate: (object, old) => {
    if (!old) return [];
    const [asked, before] = [object, old].map((each) => requestOf(each as unknown as PersistentVolumeClaim)); // the schema has checked its shape
    const has = parseQuantity((old as unknown as PersistentVolumeClaim).status?.capacity?.['storage'] ?? '0') ?? 0;
    const isShrunk = asked !== undefined && before !== undefined && asked < before && asked < has;
    return isShrunk ? [forbiddenCause(REQUEST, 'field can not be less than status.capacity')] : [];
  },
};

function requestOf({ spec }: PersistentVolumeClaim): number | undefined {
  const asked = spec?.resources?.requests?.['storage'];
  return asked === undefined ? undefined : parseQuantity(asked);
}
