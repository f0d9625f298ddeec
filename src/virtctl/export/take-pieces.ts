/**
 * Takes a disk out of a cluster through its API, in pieces: each is a short request, as API servers want them, that is repeated when the
 * connection was lost. All pieces are of the disk in one state, which its ETag names.
 */
import { DISK_BYTES_HEADER, EXPORT_TOKEN_HEADER, MOST_PIECE_BYTES, piecePath } from '../../api/exporter/exporter.ts';
import { exportPath } from '../../api/kubevirt/subresource-path.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, isApiError, UserError } from '../../base/errors.ts';
import { readBytes } from '../../base/read-bytes.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { Client } from '../../client/client.ts';
import { PieceSize } from '../../sdk/upload/piece-size.ts';

export type DiskSource = {
  readonly client: Pick<Client, 'request'>;
  readonly clock: Clock;
  readonly namespace: string;
  /** The VirtualMachineExport. */
  readonly name: string;
  readonly volume: string;
  readonly token: string;
  readonly signal: AbortSignal;
};

export type Piece = {
  /** Compressed; a file of them one after the other is the disk, compressed. */
  readonly packed: Buffer;
  readonly from: number;
  readonly to: number;
  readonly totalBytes: number;
  readonly etag: string;
};

/** Where to go on. */
export type Place = { readonly from: number; readonly etag: string };

/** How often it is tried again without a byte having come through. */
const MOST_FAILURES = 480;
const PAUSE_MS = 250;
/** Of compressed bytes that do not get smaller. */
const MOST_PACKED_BYTES = MOST_PIECE_BYTES + 2 ** 16;

/** All of the disk from a place on. ApiError Conflict when it was written to since. */
export async function* takePieces(source: DiskSource, place: Place | undefined): AsyncGenerator<Piece> {
  const { clock, signal } = source;
  const sizes = new PieceSize();
  let { from, etag } = { from: place?.from ?? 0, etag: place?.etag };
  for (let failures = 0; ; ) {
    signal.throwIfAborted();
    const startedAtMs = clock.steady();
    const patience = timeoutSignal(sizes.patienceMs());
    let piece: Piece;
    try {
      piece = await ask({ ...source, signal: AbortSignal.any([signal, patience]) }, { from, bytes: sizes.bytes, etag });
    } catch (error) {
      if (patience.aborted) sizes.stoodStill();
      if (signal.aborted || !isTransient(error) || failures++ >= MOST_FAILURES) throw error;
      await clock.sleep(PAUSE_MS, signal);
      continue;
    }
    failures = 0;
    sizes.came(piece.to - piece.from, clock.steady() - startedAtMs);
    yield piece;
    ({ to: from, etag } = piece);
    if (from >= piece.totalBytes) return;
  }
}

type Question = { readonly from: number; readonly bytes: number; readonly etag: string | undefined };

async function ask({ client, namespace, name, volume, token, signal }: DiskSource, { from, bytes, etag }: Question): Promise<Piece> {
  const headers = { [EXPORT_TOKEN_HEADER]: token, ...(etag !== undefined && { 'if-match': etag }) };
  const response = await client.request(exportPath({ namespace, name }, piecePath(volume, { from, bytes })), { headers, signal });
  const totalBytes = Number(response.headers.get(DISK_BYTES_HEADER) ?? '');
  const found = response.headers.get('etag');
  if (!Number.isSafeInteger(totalBytes) || totalBytes <= from || found === null)
    throw new UserError('BAD_ANSWER', 'the cluster sent something that is no part of a disk');
  const packed = Buffer.from(await readBytes(response.body, MOST_PACKED_BYTES, 'a piece of a disk'));
  return { packed, from, to: Math.min(totalBytes, from + bytes), totalBytes, etag: found };
}

/** It may go on in a moment. */
function isTransient(error: unknown): boolean {
  if (error instanceof UserError || isApiError(error, 'Conflict')) return false;
  return !(error instanceof ApiError) || ['ServiceUnavailable', 'InternalError', 'Timeout', 'TooManyRequests'].includes(error.reason);
}
