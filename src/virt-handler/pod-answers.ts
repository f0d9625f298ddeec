/** The two lines that a Pod says that writes something to a PVC: that it is ready, or why not; and what became of it. */
import type { Socket } from 'node:net';

const MOST_ANSWER_BYTES = 4096;

/** Both reject when the Pod goes without an answer. What they say is looked at by whoever uses it. */
export function answersOf<Answer>(pod: Socket): { readonly first: Promise<Answer>; readonly last: Promise<Answer> } {
  const [first, last] = [Promise.withResolvers<Answer>(), Promise.withResolvers<Answer>()];
  for (const { promise } of [first, last]) promise.catch(() => {}); // whoever waits hears it
  const waiting = [first, last];
  let text = '';
  pod.setEncoding('utf8');
  pod.on('data', (chunk: string) => {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    if (text.length > MOST_ANSWER_BYTES) pod.destroy();
    for (const line of lines) {
      try {
        waiting.shift()?.resolve(JSON.parse(line) as Answer);
      } catch {
        pod.destroy();
      }
    }
  });
  pod.on('error', () => {}); // 'close' follows
  pod.once('close', () => {
    for (const { reject } of waiting) reject(new Error('the Pod that writes it has ended'));
  });
  return { first: first.promise, last: last.promise };
}
