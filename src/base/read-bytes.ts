/** The body of a message of which it is not known how long it gets. */
import { ApiError } from './errors.ts';

/** All of it; throws RequestEntityTooLarge as soon as there is more than `maxBytes`. `what` names it for the message. */
export async function readBytes(body: ReadableStream<Uint8Array> | null, maxBytes: number, what: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new ApiError('RequestEntityTooLarge', `${what} is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
