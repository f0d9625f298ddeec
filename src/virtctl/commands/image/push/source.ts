/** The image of the embedded cluster that a name stands for. */
import { existsSync } from 'node:fs';
import { isApiError, UserError } from '../../../../base/errors.ts';
import { type Descriptor, readIndex } from '../../../../images/layout.ts';
import { openImageStore } from '../../../../images/store.ts';

/** Looks only: a machine that never had an embedded cluster has no store afterwards either. */
export function storedImage(dir: string, name: string): { readonly dir: string; readonly descriptor: Descriptor } {
  const digest = existsSync(dir) ? digestOf(dir, name) : undefined;
  const descriptor = readIndex(dir).find((each) => each.digest === digest);
  if (descriptor) return { dir, descriptor };
  throw new UserError('SOURCE_MISSING', `${name} is neither a file nor an image of the embedded cluster`, {
    why: 'there is no file of this name, and virtctl image list does not have it either',
    fix: 'give the path of a raw or qcow2 disk or of an image archive, or a name that virtctl image list shows',
    exitCode: 3,
  });
}

/** A path that leads nowhere is rarely a name that an image could have. */
function digestOf(dir: string, name: string): string | undefined {
  try {
    return openImageStore(dir).resolve(name)?.digest;
  } catch (error) {
    if (isApiError(error, 'Invalid')) return undefined;
    throw error;
  }
}
