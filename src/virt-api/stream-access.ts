/**
 * Whether those who have a stream open (a console, a screen, a forwarded port, a disk that is downloaded) still may: a right that was taken away ends it within
 * seconds. The API server in front asks only when a stream is opened. Streams of one caller to one thing cost one question together.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { ApiError, isApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isLasting, revocableBody } from '../base/revocable-body.ts';
import type { Client } from '../client/client.ts';
import type { Caller } from './front-proxy.ts';
import { type ResourceAttributes, requireAccess } from './require-access.ts';

const LOOK_EVERY_MS = 5_000;
const ASKED_AT_ONCE = 32;

export type OpenStream = { readonly attributes: ResourceAttributes; readonly count: number };
/** Whose it is, and what of. */
type Claim = { readonly caller: Caller; readonly attributes: ResourceAttributes };
type End = () => void;
type Held = Claim & { readonly ends: Set<End> };

export type StreamAccessOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of each stream when it begins. */
  readonly onOpen?: (attributes: ResourceAttributes) => void;
  readonly signal: AbortSignal;
};

export class StreamAccess {
  readonly #held = new Map<string, Held>();
  readonly #options: StreamAccessOptions;

  /** Looks until the signal aborts. */
  constructor(options: StreamAccessOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Ends the stream when its caller may no longer have it. */
  add({ socket, ...claim }: Claim & { readonly socket: Duplex }): void {
    if (socket.destroyed) return;
    this.#options.onOpen?.(claim.attributes);
    socket.once(
      'close',
      this.#hold(claim, () => socket.destroy()),
    );
  }

  /** The same answer, cut off when its caller may no longer have it. */
  whileAllowed(response: Response, claim: Claim): Response {
    if (!response.body || !isLasting(response)) return response;
    let leave = () => {};
    const { body, cut } = revocableBody(response.body, () => leave());
    leave = this.#hold(claim, () => cut(new ApiError('Forbidden', 'the right to this was taken away')));
    return new Response(body, response);
  }

  /** What is open now. */
  open(): readonly OpenStream[] {
    return [...this.#held.values()].map(({ attributes, ends }) => ({ attributes, count: ends.size }));
  }

  /** What is returned says that it is over. */
  #hold({ caller, attributes }: Claim, end: End): () => void {
    const key = JSON.stringify([caller, attributes]);
    const held = this.#held.get(key) ?? { caller, attributes, ends: new Set() };
    this.#held.set(key, held);
    held.ends.add(end);
    return () => {
      held.ends.delete(end);
      if (held.ends.size === 0 && this.#held.get(key) === held) this.#held.delete(key);
    };
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#options;
    for (;;) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      const all = [...this.#held.values()];
      // One after the other, hundreds would take longer than the seconds that are promised.
      for (let at = 0; at < all.length; at += ASKED_AT_ONCE)
        await Promise.all(all.slice(at, at + ASKED_AT_ONCE).map((held) => this.#look(held)));
    }
  }

  async #look(held: Held): Promise<void> {
    if (!(await this.#mayStill(held))) this.#end(held);
  }

  /** Only a clear no counts: an API server that is away for a while ends nothing. */
  async #mayStill({ caller, attributes }: Held): Promise<boolean> {
    const { client, log } = this.#options;
    try {
      await requireAccess(client, caller, attributes);
      return true;
    } catch (error) {
      if (isApiError(error, 'Forbidden')) return false;
      log.warn('cannot tell whether a stream is still allowed', { user: caller.user, error });
      return true;
    }
  }

  #end({ caller: { user }, attributes: { resource, subresource, namespace, name }, ends }: Held): void {
    const object = `${resource} ${namespace}/${name}`;
    this.#options.log.info(`${subresource} ended`, { object, user, because: 'the user may no longer have it' });
    for (const end of [...ends]) end();
  }
}
