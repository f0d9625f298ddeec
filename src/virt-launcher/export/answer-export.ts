/**
 * Answers whoever has the token of an export.
 *
 *   GET /volumes/NAME/disk.img               the disk; with Range a part of it, so that a download goes on where it ended
 *   GET /volumes/NAME/disk.img.gz            the same, compressed, from its beginning
 *   GET /volumes/NAME/piece?from=&bytes=     a part of it, compressed
 *   GET /internal|external/manifests/all     what makes the same machine elsewhere
 *   GET /internal|external/manifests/secret  the token, as importers want it
 *
 * If-Match with an ETag of before is refused when the disk was written to since: halves of two disks are no disk.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { DISK_BYTES_HEADER, EXPORT_TOKEN_HEADER, type ExportTask, type LinkSide, MOST_PIECE_BYTES } from '../../api/exporter/exporter.ts';
import type { KubeObject } from '../../api/meta.ts';
import { ApiError } from '../../base/errors.ts';
import { headerSecret, machineManifests } from './manifests.ts';
import type { OpenDisk } from './open-disk.ts';
import { pieceRange, rangeOf } from './parse-range.ts';

export type Served = {
  readonly task: ExportTask;
  readonly disks: ReadonlyMap<string, OpenDisk>;
  readonly token: string;
};

const READ_BYTES = 2 ** 20;
/** Most of a disk is zero or packed already: more effort is not worth its time. */
const GZIP = { level: 1 };

export async function answerExport(request: Request, served: Served): Promise<Response> {
  assertToken(request.headers.get(EXPORT_TOKEN_HEADER), served.token);
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new ApiError('MethodNotAllowed', 'GET and HEAD are possible here');
  const { pathname, searchParams } = new URL(request.url);
  const [, first = '', second = '', third = '', ...more] = pathname.split('/');
  if (more.length > 0) throw notFound();
  if ((first === 'internal' || first === 'external') && second === 'manifests')
    return answerManifests(request, served, { side: first, file: third });
  const disk = first === 'volumes' ? served.disks.get(decode(second)) : undefined;
  if (!disk) throw notFound();
  const wanted = request.headers.get('if-match');
  if (wanted !== null && wanted !== disk.etag()) return changed(third === 'piece');
  const headers = { etag: disk.etag(), [DISK_BYTES_HEADER]: String(disk.sizeBytes) };
  if (third === 'disk.img') return rawAnswer(request, disk, headers);
  if (third === 'disk.img.gz') return gzipAnswer(request, disk, headers);
  if (third !== 'piece') throw notFound();
  const { from, to } = pieceRange(searchParams, { sizeBytes: disk.sizeBytes, mostBytes: MOST_PIECE_BYTES });
  const body = await promisify(gzip)(await disk.read(from, to - from), GZIP);
  return new Response(body as Uint8Array<ArrayBuffer>, { headers: { ...headers, 'content-type': 'application/gzip' } });
}

/** Our own client is told in words. */
function changed(isPiece: boolean): Response {
  if (isPiece) throw new ApiError('Conflict', 'the disk was written to since then');
  return new Response(null, { status: 412 });
}

/** Digests are compared: the time that it takes says nothing of either. */
function assertToken(said: string | null, token: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (said !== null && token !== '' && timingSafeEqual(digest(said), digest(token))) return;
  throw new ApiError('Unauthorized', `an export needs its token: ${EXPORT_TOKEN_HEADER}: TOKEN`);
}

function rawAnswer(request: Request, disk: OpenDisk, headers: Record<string, string>): Response {
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

function gzipAnswer(request: Request, disk: OpenDisk, headers: Record<string, string>): Response {
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

async function answerManifests(
  request: Request,
  { task, token }: Served,
  { side, file }: { side: LinkSide; file: string },
): Promise<Response> {
  if (!task.machine || !task.bases[side] || (file !== 'all' && file !== 'secret')) throw notFound();
  return textOf(file === 'all' ? machineManifests(task, side) : [headerSecret(task, token)], request.headers.get('accept') ?? '');
}

function textOf(objects: readonly KubeObject[], accept: string): Response {
  if (accept.includes('application/json')) return Response.json({ apiVersion: 'v1', kind: 'List', items: objects });
  const documents = objects.map((each) => `${JSON.stringify(each, undefined, 2)}\n---\n`).join(''); // JSON is YAML, as well
  return new Response(documents, { headers: { 'content-type': 'application/yaml' } });
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new ApiError('BadRequest', 'the path is not valid', { cause: error });
  }
}

function notFound(): ApiError {
  return new ApiError('NotFound', 'this export has nothing there');
}
