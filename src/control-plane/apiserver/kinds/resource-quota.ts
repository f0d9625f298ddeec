/** ResourceQuotas: every amount is a quantity that is not negative, and what is counted is counted in whole pieces. */
import type { ResourceQuota } from '../../../api/core/resource-quota.ts';
import { invalidCause } from '../../../base/causes.ts';
import { deepEqual } from '../../../base/json.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { Strategy } from '../types/resource-type.ts';

const COUNTED = /^(count\/|pods$|services(\.|$)|configmaps$|secrets$|persistentvolumeclaims$|replicationcontrollers$|resourcequotas$)/;

export const resourceQuotaStrategy: Strategy = {
  validate(object, old) {
    const { spec } = object as unknown as ResourceQuota; // only quotas come here, and the schema has checked their shape
    const before = (old as unknown as ResourceQuota | undefined)?.spec; // as above
    const causes = Object.entries(spec?.hard ?? {}).flatMap(([resource, text]) => {
      const amount = parseQuantity(text) ?? -1;
      if (amount < 0) return [invalidCause(`spec.hard[${resource}]`, String(text), 'must be greater than or equal to 0')];
      const isWhole = Number.isInteger(amount) || !COUNTED.test(resource);
      return isWhole ? [] : [invalidCause(`spec.hard[${resource}]`, String(text), 'must be an integer')];
    });
    const isSame = !old || deepEqual([before?.scopes, before?.scopeSelector], [spec?.scopes, spec?.scopeSelector]);
    return isSame ? causes : [...causes, invalidCause('spec.scopes', spec?.scopes ?? [], 'field is immutable')];
  },
};
