/** The one answer to whoever asks for a guest that is not on this node. */
import { ApiError } from '../../base/errors.ts';

/** For the VMI with this key. */
export function noSuchGuest(key: string): ApiError {
  return new ApiError('NotFound', `there is no guest ${key} here`);
}
