/** Which part of a file a request brings. Pure. */
import { ApiError } from '../../base/errors.ts';

/** Where it begins, and where it and the file end, when that is known. */
export type Piece = { readonly from: number; readonly to: number | undefined; readonly totalBytes: number | undefined };

/** Without a range it is all of the file. BadRequest for what is none. */
export function pieceOf(headers: Headers): Piece {
  const range = headers.get('content-range');
  const length = headers.get('content-length');
  const lengthBytes = length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
  if (range === null) return { from: 0, to: lengthBytes, totalBytes: lengthBytes };
  const [, first, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range) ?? [];
  const [from, to, totalBytes] = [Number(first), Number(last) + 1, Number(total)];
  if (first === undefined || from >= to || to > totalBytes)
    throw new ApiError('BadRequest', `Content-Range "${range.slice(0, 80)}" is not FIRST-LAST/TOTAL of bytes of one file`);
  if (lengthBytes !== undefined && lengthBytes !== to - from)
    throw new ApiError('BadRequest', `Content-Range says ${to - from} bytes, and Content-Length ${lengthBytes}`);
  return { from, to, totalBytes };
}
