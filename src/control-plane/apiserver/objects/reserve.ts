/** What a write takes that others must not get meanwhile: room in quotas and in memory, and what only one object may have. */
import { invalid } from '../response/api-errors.ts';
import type { AdmissionAttributes, Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';

/** Throws Forbidden or Invalid when it is not there; whoever asked gives it back when the write is over. */
export function reserve({ parts, type }: Call, review: AdmissionAttributes & { readonly object: AnyObject }): () => void {
  const { object, oldObject } = review;
  const taken = type.strategy.reserve?.(object, oldObject);
  if (taken && 'causes' in taken) throw invalid(type, object.metadata.name, taken.causes);
  const given: (() => void)[] = taken ? [taken.giveBack] : [];
  const giveBack = () => {
    for (const each of given) each();
  };
  try {
    given.push(parts.namespaceShares.reserve(review));
    given.push(parts.quotas.reserve(review));
    return giveBack;
  } catch (error) {
    giveBack();
    throw error;
  }
}
