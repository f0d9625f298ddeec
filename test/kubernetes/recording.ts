/**
 * What real clients said to an API server, kept so that it can be said again to another one. Names that a server gives (uids and versions)
 * are kept as references to the answer they were learnt from: `<<12 metadata/uid>>` is what the answer to request 12 has there.
 */
import { isObject } from '../../src/base/json.ts';

/** One request. `body` is text; of a protobuf body `bytes` are its base64. With `upgrade`, the headers of a connection that wants to leave HTTP. */
export type Recorded = {
  readonly method: string;
  readonly path: string;
  readonly accept?: string;
  readonly type?: string;
  readonly body?: string;
  readonly bytes?: string;
  readonly upgrade?: Readonly<Record<string, string>>;
};

const GIVEN = ['uid', 'resourceVersion'];
const REFERENCE = /<<(\d+) ([^<>]*)>>/g;

/** Collects requests as they come, with their answers. */
export class Recorder {
  readonly requests: Recorded[] = [];
  readonly #known = new Map<string, string>();

  /** Starts anew. */
  forget(): void {
    this.requests.length = 0;
    this.#known.clear();
  }

  /** Takes down a request; its number is for `learn`. */
  add(request: Recorded): number {
    const { path, body } = request;
    this.requests.push({
      ...request,
      path: this.#referring(path, /((?:uid|resourceVersion|resourceVersion%3D|uid%3D)=?)([^&,%]+)/g),
      ...(body === undefined ? {} : { body: this.#referring(body, /("(?:uid|resourceVersion)":\s*")([^"]+)/g) }),
    });
    return this.requests.length - 1;
  }

  /** Remembers the names in the answer to a request. */
  learn(number: number, answer: unknown, place: readonly string[] = []): void {
    if (typeof answer !== 'object' || answer === null) return;
    for (const [key, value] of Object.entries(answer)) {
      if (GIVEN.includes(key) && typeof value === 'string') this.#known.set(value, `<<${number} ${[...place, key].join('/')}>>`);
      else this.learn(number, value, [...place, key]);
    }
  }

  #referring(text: string, pattern: RegExp): string {
    return text.replace(pattern, (_, before: string, value: string) => before + (this.#known.get(value) ?? value));
  }
}

/** The text with every reference replaced by what this server answered. */
export function resolve(text: string, answers: readonly unknown[]): string {
  return text.replace(REFERENCE, (_, number: string, place: string) => {
    let value: unknown = answers[Number(number)];
    for (const key of place.split('/'))
      value = isObject(value) || Array.isArray(value) ? (value as Record<string, unknown>)[key] : undefined;
    return typeof value === 'string' ? value : '0';
  });
}

/** One request per line. */
export function format(requests: readonly Recorded[]): string {
  return requests.map((request) => `${JSON.stringify(request)}\n`).join('');
}

export function parse(text: string): Recorded[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
