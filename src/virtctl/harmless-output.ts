/** The edge between commands and a terminal: text is shown, never obeyed. Bytes pass as they are: whoever writes bytes means a terminal (console, progress) or a file. */
import { escapeUnprintable } from '../base/escape-unprintable.ts';
import type { Output } from './deps.ts';

/** The stream, with every text that is written to it made harmless. */
export function harmlessOutput(stream: Output): Output {
  const write = (chunk: string | Uint8Array, ...more: unknown[]): boolean =>
    // The overloads of write differ in what may stand between the text and the callback; both are handed on as they came.
    (stream.write as (...words: unknown[]) => boolean).call(stream, typeof chunk === 'string' ? escapeUnprintable(chunk) : chunk, ...more);
  return new Proxy(stream, {
    get: (target, key) => {
      if (key === 'write') return write;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
