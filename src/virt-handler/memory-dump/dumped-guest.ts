/** What is known of a dump that was made. */
import { isObject } from '../../base/json.ts';

export type DumpedGuest = { readonly bytes: number };

/** The answer of a Pod is a claim of whoever runs there. */
export function isDumpedGuest(value: unknown): value is DumpedGuest {
  return isObject(value) && Number.isSafeInteger(value['bytes']) && Number(value['bytes']) > 0;
}
