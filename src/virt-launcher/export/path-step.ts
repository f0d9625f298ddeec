/** What a request for an export names. */
import { ApiError } from '../../base/errors.ts';

/** One step of a path, as it was before it was put into one. */
export function decodeStep(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new ApiError('BadRequest', 'the path is not valid', { cause: error });
  }
}

/** Whoever has the token is told that there is nothing. */
export function notFound(): ApiError {
  return new ApiError('NotFound', 'this export has nothing there');
}
