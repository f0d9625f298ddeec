/** Which part of a disk a request asks for. Pure. */
import { ApiError } from '../../base/errors.ts';

/** `to` is not part of it. */
export type ByteRange = { readonly from: number; readonly to: number };

/**
 * The part that a Range header names: FIRST-LAST, FIRST- or -LENGTH. Undefined for all of it: no header, or one that asks for something else
 * than one part of bytes, which a server may ignore. 416 for one that begins behind the end.
 */
export function rangeOf(header: string | null, sizeBytes: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  if (from < to) return { from, to };
  if (first !== '' && last !== '' && Number(last) < from) return undefined; // none that has a meaning
  return { from: sizeBytes, to: sizeBytes };
}

/** The part that the query of a piece names. BadRequest for none, or one that is not in the disk or too large. */
export function pieceRange(query: URLSearchParams, limits: { readonly sizeBytes: number; readonly mostBytes: number }): ByteRange {
  const [from, bytes] = [query.get('from') ?? '', query.get('bytes') ?? ''].map((text) =>
    /^\d{1,15}$/.test(text) ? Number(text) : -1,
  ) as [number, number]; // two in, two out
  if (from < 0 || bytes < 1 || bytes > limits.mostBytes || from >= limits.sizeBytes)
    throw new ApiError('BadRequest', `a piece has from, below ${limits.sizeBytes}, and bytes, at most ${limits.mostBytes}`);
  return { from, to: Math.min(limits.sizeBytes, from + bytes) };
}
