/** Who owns which fields of an object, for comparison between servers. */
import { isObject } from '../../src/base/json.ts';

/** The managedFields of an answer, without their times, in one order. */
export function ownersIn(object: unknown): unknown {
  const metadata = isObject(object) && isObject(object['metadata']) ? object['metadata'] : {};
  const entries = Array.isArray(metadata['managedFields']) ? metadata['managedFields'] : [];
  const key = (entry: { manager?: string; operation?: string; subresource?: string }) =>
    `${entry.manager} ${entry.operation} ${entry.subresource}`;
  return entries.map(({ time: _, ...entry }) => entry).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
