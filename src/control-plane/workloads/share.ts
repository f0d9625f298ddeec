/** Numbers that may be given as a share of another: maxSurge, maxUnavailable, minAvailable. Pure. */
import type { IntOrPercent } from '../../api/core/pod-template.ts';

/** `25%` of ten is three rounded up and two rounded down; admission has refused everything else. */
export function resolveShare(value: IntOrPercent | undefined, of: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value ?? '')?.[1];
  if (percent === undefined) return 0;
  const exact = (Number(percent) * of) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}

/** How many Pods more, and how many fewer, an update may have than are wanted. Never neither: it would not begin. */
export function updateRoom(
  { maxSurge, maxUnavailable }: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent },
  wanted: number,
): { surge: number; unavailable: number } {
  const surge = resolveShare(maxSurge, wanted, 'up');
  const unavailable = resolveShare(maxUnavailable, wanted, 'down');
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable };
}
