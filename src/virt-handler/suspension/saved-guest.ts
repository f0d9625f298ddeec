/** What is known of memory that was saved. */
import { isObject } from '../../base/json.ts';

export type SavedGuest = { readonly digest: string; readonly bytes: number };

/** The answer of a Pod is a claim of whoever runs there. */
export function isSavedGuest(value: unknown): value is SavedGuest {
  return (
    isObject(value) && /^[0-9a-f]{64}$/.test(String(value['digest'])) && Number.isSafeInteger(value['bytes']) && Number(value['bytes']) >= 0
  );
}
