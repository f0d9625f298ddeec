/** A body that can be cut off while it is being sent: whoever sends it looks again whether its reader may have it. */

export type RevocableBody = {
  readonly body: ReadableStream<Uint8Array>;
  /** Breaks it: whoever reads learns that it is not whole. */
  cut(error: Error): void;
};

/** What is no longer than this is sent before anybody could look. */
const SHORT_BYTES = 2 ** 20;

/** Whether an answer may still be on its way when the right to it is taken away: a disk, or whatever does not say how long it is. */
export function isLasting({ body, headers }: Pick<Response, 'body' | 'headers'>): boolean {
  const length = headers.get('content-length');
  return body !== null && (length === null || !(Number(length) <= SHORT_BYTES));
}

/** The same bytes; `onEnd` is called once, when there are no more or nobody wants them. */
export function revocableBody(source: ReadableStream<Uint8Array>, onEnd: () => void): RevocableBody {
  const reader = source.getReader();
  let isOver = false;
  let cut = (_: Error) => {};
  const over = (finish: () => void) => {
    if (isOver) return;
    isOver = true;
    onEnd();
    finish();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        cut = (error) =>
          over(() => {
            controller.error(error);
            reader.cancel(error).catch(() => {}); // nobody reads what it has to say
          });
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) over(() => controller.close());
          else if (!isOver) controller.enqueue(value);
        } catch (error) {
          over(() => controller.error(error));
        }
      },
      cancel(reason) {
        over(() => {});
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { body, cut: (error) => cut(error) };
}
