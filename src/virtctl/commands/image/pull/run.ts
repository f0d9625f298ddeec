/** Fetches an image from a registry into the store of the embedded cluster, which need not run. */
import { isApiError, UserError } from '../../../../base/errors.ts';
import { normaliseReference, parseReference } from '../../../../base/image-reference.ts';
import { createImagePuller } from '../../../../images/image-puller.ts';
import { openImageStore } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { progressOf, untilInterrupted } from '../interruptible.ts';
import { storeFolder } from '../store-folder.ts';
import { transferText } from './transfer-rate.ts';

export async function run(deps: Deps, _flags: object, reference: string): Promise<void> {
  const name = checked(reference);
  const dir = storeFolder(deps);
  openImageStore(dir);
  const { clock, env } = deps;
  const puller = createImagePuller({ dir, env, hasHostLoopback: true, clock });
  const pulled = await untilInterrupted(deps, `${name} was pulled`, async (signal) => {
    let digest = '';
    await progressOf(deps).step('pull', async ({ update }) => {
      let start: { atMs: number; doneBytes: number } | undefined;
      const pull = puller.pull({
        reference,
        signal,
        onProgress: (progress) => {
          const nowMs = clock.steady();
          start ??= { atMs: nowMs, doneBytes: progress.doneBytes };
          update(transferText(progress, start, nowMs));
        },
      });
      const { digest: found, registry } = await pull.catch((error: unknown) => {
        throw forPeople(error, name);
      });
      digest = found;
      return `${name} from ${registry}`;
    });
    return digest;
  });
  deps.stdout.write(`${name} pulled, ${pulled.slice(7, 19)}\n`);
}

function checked(reference: string): string {
  try {
    parseReference(reference);
    return normaliseReference(reference);
  } catch (error) {
    if (!isApiError(error, 'Invalid')) throw error;
    throw new UserError('REFERENCE_INVALID', `${reference} is no name of an image`, {
      why: /^https?:\/\//.test(reference) ? 'a name begins with the host, without https://' : 'it is not written as names of images are',
      fix: 'write HOST/NAME:TAG, such as quay.io/containerdisks/debian:12',
      exitCode: 2,
    });
  }
}

function forPeople(error: unknown, name: string): unknown {
  if (!isApiError(error, 'NotFound')) return error;
  return new UserError('IMAGE_MISSING', `${name} is not at its registry`, {
    why: error.message,
    fix: 'check its name and tag',
    exitCode: 3,
    cause: error,
  });
}
