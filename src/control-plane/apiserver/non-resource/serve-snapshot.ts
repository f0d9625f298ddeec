/** GET /snapshot: a consistent copy of the whole store, for `virtctl backup`. Nobody has the right to it but administrators. */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Store } from '../../store/store.ts';

/** The database as a stream; it is written to a file of its own first, so a slow reader holds nothing up. */
export async function serveSnapshot(store: Store): Promise<Response> {
  const folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, 'store.db');
    await store.snapshot(path);
    const file = await open(path, 'r');
    await remove(); // the open file is enough, and whoever is killed from here on leaves nothing behind
    const body = Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>; // node and the web library type the same stream apart
    return new Response(body, { headers: { 'content-type': 'application/vnd.sqlite3', 'cache-control': 'no-store' } });
  } catch (error) {
    await remove();
    throw error;
  }
}
