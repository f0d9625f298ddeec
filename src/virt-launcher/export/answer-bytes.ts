/** The bytes of a disk, an archive or a file, as an answer that is made while it is sent. */
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { OpenDisk } from './open-disk.ts';
import { rangeOf } from './parse-range.ts';

const READ_BYTES = 2 ** 20;
/** Most of a disk is zero or packed already: more effort is not worth its time. */
export const GZIP = { level: 1 };

/** A disk or a file: all of it, or the part that is asked for. */
export function rawAnswer(request: Request, disk: OpenDisk, headers: Record<string, string>): Response {
  const { sizeBytes } = disk;
  const ifRange = request.headers.get('if-range');
  const asked = ifRange === null || ifRange === headers['etag'] ? rangeOf(request.headers.get('range'), sizeBytes) : undefined;
  const common = { ...headers, 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' };
  if (asked && asked.from === asked.to)
    return new Response(null, { status: 416, headers: { ...common, 'content-range': `bytes */${sizeBytes}` } });
  const { from, to } = asked ?? { from: 0, to: sizeBytes };
  const partial = asked && { 'content-range': `bytes ${from}-${to - 1}/${sizeBytes}` };
  const body = request.method === 'HEAD' ? null : webStream(Readable.from(bytesOf(disk, from, to)));
  return new Response(body, { status: asked ? 206 : 200, headers: { ...common, ...partial, 'content-length': String(to - from) } });
}

/** The same, compressed, from its beginning. */
export function gzipAnswer(request: Request, disk: OpenDisk, headers: Record<string, string>): Response {
  const body = request.method === 'HEAD' ? null : webStream(packed(disk));
  return new Response(body, { headers: { ...headers, 'content-type': 'application/gzip' } });
}

function packed(disk: OpenDisk): Readable {
  const source = Readable.from(bytesOf(disk, 0, disk.sizeBytes));
  const gzipped = createGzip(GZIP);
  source.on('error', (error) => gzipped.destroy(error));
  gzipped.on('close', () => source.destroy());
  return source.pipe(gzipped);
}

/** What was written to meanwhile is cut off: who reads sees that it is not whole. */
async function* bytesOf(disk: OpenDisk, from: number, to: number): AsyncGenerator<Buffer> {
  const before = disk.etag();
  for (let at = from; at < to; at += READ_BYTES) {
    const bytes = await disk.read(at, Math.min(READ_BYTES, to - at));
    if (disk.etag() !== before) throw new Error('the disk was written to while it was read');
    yield bytes;
  }
}

function webStream(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>; // of bytes, as all of ours
}
