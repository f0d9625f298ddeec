/** The files of a volume, one by one, as web servers show folders. */
import { rawAnswer } from './answer-bytes.ts';
import type { FileTree } from './open-files.ts';
import { decodeStep, notFound } from './path-step.ts';

/** A link is not followed: what it leads to has a name of its own. */
export function answerFolder(request: Request, files: FileTree, steps: readonly string[]): Response {
  const path = steps.map(decodeStep);
  const isFolder = path.at(-1) === '';
  const found = files.find((isFolder ? path.slice(0, -1) : path).join('/'));
  if (!found || (isFolder && !('names' in found))) throw notFound();
  if ('file' in found) {
    const { file } = found;
    const wanted = request.headers.get('if-match');
    return wanted !== null && wanted !== file.etag()
      ? new Response(null, { status: 412 })
      : rawAnswer(request, file, { etag: file.etag() });
  }
  // Below a folder without its slash, links of the page would lead beside it.
  if (!isFolder) return new Response(null, { status: 301, headers: { location: `${encodeURIComponent(path.at(-1) ?? 'dir')}/` } });
  const lines = found.names.map((name) => `<a href="${linkTo(name)}">${escaped(name)}</a>\n`).join('');
  return new Response(request.method === 'HEAD' ? null : `<!doctype html>\n<pre>\n${lines}</pre>\n`, {
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
}

/** The slash of a folder stays one. */
function linkTo(name: string): string {
  return encodeURIComponent(name).replace(/%2F$/, '/');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
