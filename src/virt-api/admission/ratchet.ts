/** A rule that came later must not lock an object that is stored already: what was wrong before may stay wrong, nothing may get worse. */
import type { StatusCause } from '../../base/errors.ts';

/** The causes that the old object does not have. Positions in lists do not matter, and neither does the order. */
export function newCauses(causes: readonly StatusCause[], old: readonly StatusCause[]): StatusCause[] {
  const known = new Map<string, number>();
  for (const cause of old) known.set(keyOf(cause), (known.get(keyOf(cause)) ?? 0) + 1);
  return causes.filter((cause) => {
    const left = known.get(keyOf(cause)) ?? 0;
    known.set(keyOf(cause), left - 1);
    return left <= 0;
  });
}

function keyOf({ reason, message, field }: StatusCause): string {
  return JSON.stringify([reason, message, field.replaceAll(/\[\d+\]/g, '[]')]);
}
