/** Which images are offered for a new machine. Pure. */
import { isImageReference, normaliseReference } from '../base/image-reference.ts';

/**
 * Images that machines of this cluster use already, most used first, behind those that everybody has; each once, as it was first written. Some are
 * annotations of claims, which may say anything.
 */
export function deriveImages(used: readonly (string | undefined)[], known: readonly string[]): string[] {
  const counted = new Map(known.map((image) => [normaliseReference(image), { image, count: 0 }]));
  for (const image of used) {
    if (!image || !isImageReference(image)) continue;
    const key = normaliseReference(image);
    const before = counted.get(key);
    counted.set(key, { image: before?.image ?? image, count: (before?.count ?? 0) + 1 });
  }
  return [...counted.values()].sort((one, other) => other.count - one.count).map(({ image }) => image);
}
