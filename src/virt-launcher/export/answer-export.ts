/**
 * Answers whoever has the token of an export.
 *
 *   GET /volumes/NAME/disk.img               the disk; with Range a part of it, so that a download goes on where it ended
 *   GET /volumes/NAME/disk.img.gz            the same, compressed, from its beginning
 *   GET /volumes/NAME/piece?from=&bytes=     a part of it, compressed
 *   GET /volumes/NAME/disk.tar.gz            the files of a volume that is no disk, as an archive; pieces are those of this archive
 *   GET /volumes/NAME/dir/...                the same, one by one: names in a folder as links of a page, a file with Range
 *   GET /internal|external/manifests/all     what makes the same machine elsewhere
 *   GET /internal|external/manifests/secret  the token, as importers want it
 *
 * If-Match with an ETag of before is refused when the disk was written to since: halves of two disks are no disk.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DISK_BYTES_HEADER, EXPORT_TOKEN_HEADER, type ExportTask, type LinkSide, MOST_PIECE_BYTES } from '../../api/exporter/exporter.ts';
import type { KubeObject } from '../../api/meta.ts';
import { ApiError } from '../../base/errors.ts';
import { GZIP, gzipAnswer, rawAnswer } from './answer-bytes.ts';
import { answerFolder } from './answer-folder.ts';
import { headerSecret, machineManifests } from './manifests.ts';
import type { OpenVolume } from './open-volume.ts';
import { pieceRange } from './parse-range.ts';
import { decodeStep, notFound } from './path-step.ts';

export type Served = {
  readonly task: ExportTask;
  readonly volumes: ReadonlyMap<string, OpenVolume>;
  readonly token: string;
};

export async function answerExport(request: Request, served: Served): Promise<Response> {
  assertToken(request.headers.get(EXPORT_TOKEN_HEADER), served.token);
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new ApiError('MethodNotAllowed', 'GET and HEAD are possible here');
  const { pathname, searchParams } = new URL(request.url);
  const [, first = '', second = '', third = '', ...more] = pathname.split('/');
  const volume = first === 'volumes' ? served.volumes.get(decodeStep(second)) : undefined;
  if (volume?.files && third === 'dir') return answerFolder(request, volume.files, more);
  if (more.length > 0) throw notFound();
  if ((first === 'internal' || first === 'external') && second === 'manifests')
    return answerManifests(request, served, { side: first, file: third });
  if (!volume) throw notFound();
  const wanted = request.headers.get('if-match');
  if (wanted !== null && wanted !== volume.etag()) return changed(third === 'piece');
  const headers = { etag: volume.etag(), [DISK_BYTES_HEADER]: String(volume.sizeBytes) };
  if (third === 'disk.img' && !volume.files) return rawAnswer(request, volume, headers);
  if (third === (volume.files ? 'disk.tar.gz' : 'disk.img.gz')) return gzipAnswer(request, volume, headers);
  if (third !== 'piece') throw notFound();
  const { from, to } = pieceRange(searchParams, { sizeBytes: volume.sizeBytes, mostBytes: MOST_PIECE_BYTES });
  const body = await promisify(gzip)(await volume.read(from, to - from), GZIP);
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
