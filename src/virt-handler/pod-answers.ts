/** The two lines that a Pod says that writes something to a PVC: that it is ready, or why not; and what became of it. */
import type { Socket } from 'node:net';

const MOST_ANSWER_BYTES = 4096;

/** Both reject when the Pod goes without an answer, or says what is none. What they say is looked at by whoever uses it. */
export function answersOf<Answer>(pod: Socket): { readonly first: Promise<Answer>; readonly last: Promise<Answer> } {
  const [first, last] = [Promise.withResolvers<Answer>(), Promise.withResolvers<Answer>()];
  for (const { promise } of [first, last]) promise.catch(() => {}); // whoever waits hears it
  const waiting = [first, last];
  const giveUp = (why: string) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(why));
    pod.destroy();
  };
  let text = '';
  pod.setEncoding('utf8');
  pod.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n'); end >= 0 && waiting.length > 0; end = text.indexOf('\n')) {
      const answer = answerIn<Answer>(text.slice(0, end));
      text = text.slice(end + 1);
      if (answer === undefined) return giveUp('the Pod that writes it said what is no answer');
      waiting.shift()?.resolve(answer);
    }
    if (waiting.length === 0) text = ''; // there is nothing more to say
    if (text.length > MOST_ANSWER_BYTES) giveUp(`the Pod that writes it said more than ${MOST_ANSWER_BYTES} bytes`);
  });
  pod.on('error', () => {}); // 'close' follows
  pod.once('close', () => giveUp('the Pod that writes it has ended'));
  return { first: first.promise, last: last.promise };
}

/** Undefined when it is too long, or no object. */
function answerIn<Answer>(line: string): Answer | undefined {
  try {
    const said: unknown = line.length > MOST_ANSWER_BYTES ? undefined : JSON.parse(line);
    return typeof said === 'object' && said !== null ? (said as Answer) : undefined; // whoever uses it looks at what is in it
  } catch {
    return undefined;
  }
}
