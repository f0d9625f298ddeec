/** A list as JSON text in pieces: ten thousand objects are never one string, neither here nor on their way into the socket. */

const PIECE_CHARACTERS = 128 * 1024;

/** `head` with the field `items`, each made by `textOf` when its piece is asked for. */
export function* listTexts<T>(head: string, items: readonly T[], textOf: (item: T) => string): Generator<string, void> {
  let piece = `${head.slice(0, -1)},"items":[`;
  let comma = '';
  for (const item of items) {
    piece += comma + textOf(item);
    comma = ',';
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}`;
}

/** A body that reads no faster than it is read; what fits into one piece is that text. */
export function streamOrText(pieces: Generator<string, void>): string | ReadableStream<Uint8Array> {
  const first = pieces.next();
  const second = pieces.next();
  if (second.done) return first.value ?? '';
  const encoder = new TextEncoder();
  const waiting = [first.value, second.value];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = waiting.shift() ?? pieces.next().value;
        if (next === undefined) controller.close();
        else controller.enqueue(encoder.encode(next));
      },
    },
    { highWaterMark: 0 },
  );
}
