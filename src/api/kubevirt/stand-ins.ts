/**
 * Guests of the published documents whose registry may be out of reach, and the small guest that this project builds and that does what those
 * documents expect of them: it boots in 64M, runs the script of cloud-init and lets the user cirros in.
 */
import { isImageReference, normaliseReference } from '../../base/image-reference.ts';

/** What stands in for them. */
export const STAND_IN = 'localhost/guests/tiny32:latest';

/** For whoever has neither the image nor what stands in for it. */
export const HOW_STAND_INS_ARE_MADE =
  'virtctl up brings it in; in a clone of this project script/node tools/guest-image/build.ts tiny32 builds it before';

/** The names of the published documents. */
export const STOOD_IN_FOR: readonly string[] = ['kubevirt/cirros-container-disk-demo:latest', 'kubevirt/cirros-registry-disk-demo:latest'];

const NAMES = new Set(STOOD_IN_FOR.map(normaliseReference));

/** The image that is used when this one cannot be had; undefined when there is none, as for every name of somebody else. */
export function standInFor(reference: string): string | undefined {
  return isImageReference(reference) && NAMES.has(normaliseReference(reference)) ? STAND_IN : undefined;
}
