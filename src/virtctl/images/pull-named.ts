/** Fetches an image that somebody named into the store of the embedded cluster. */
import { isApiError, UserError } from '../../base/errors.ts';
import { isImageReference, normaliseReference } from '../../base/image-reference.ts';
import { createImagePuller } from '../../images/image-puller.ts';
import { progressOf } from '../../sdk/upload/transfer-progress.ts';
import type { Deps } from '../deps.ts';

type Options = {
  readonly storeDir: string;
  readonly reference: string;
  readonly signal: AbortSignal;
  /** Gets how far it is, in words. */
  readonly update: (text: string) => void;
};

/** Its name. */
export async function pullNamed({ clock, env }: Deps, { storeDir, reference, signal, update }: Options): Promise<string> {
  if (!isImageReference(reference))
    throw new UserError('REFERENCE_INVALID', `${reference} is no name of an image`, {
      fix: 'write HOST/NAME:TAG, such as quay.io/containerdisks/debian:12',
      exitCode: 2,
    });
  const puller = createImagePuller({ dir: storeDir, env, hasHostLoopback: true, clock });
  const startedAtMs = clock.steady();
  const pull = puller.pull({
    reference,
    signal,
    onProgress: ({ doneBytes, allBytes }) =>
      update(progressOf({ doneBytes, totalBytes: allBytes, elapsedMs: clock.steady() - startedAtMs })),
  });
  await pull.catch((error: unknown) => {
    if (!isApiError(error, 'NotFound')) throw error;
    throw new UserError('IMAGE_MISSING', `${normaliseReference(reference)} is not at its registry`, {
      why: error.message,
      fix: 'check its name and tag',
      exitCode: 3,
      cause: error,
    });
  });
  return reference;
}
