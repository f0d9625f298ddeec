/** A byte stream as text lines; ends quietly when the signal aborts. */
export async function* readLines(body: ReadableStream<Uint8Array> | null, signal?: AbortSignal): AsyncIterable<string> {
  if (!body) return;
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener('abort', stop, { once: true });
  const decoder = new TextDecoder();
  let rest = '';
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield line;
    }
    if (rest.trim() !== '' && !signal?.aborted) yield rest;
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}
