/**
 * Answers that go on (watches, logs that are followed, consoles, screens, forwarded ports), and whether they still may: a right that was
 * taken away, a token that has expired or whose Pod is gone, a certificate that has run out end them within seconds. Rights are looked at
 * when roles or bindings change, credentials every few seconds.
 */
import type { Clock } from '../../../base/clock.ts';
import { ApiError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Store } from '../../store/store.ts';

/** Whether somebody still may have what they have. */
export type Permission = {
  readonly user: string;
  /** Throws an ApiError, or resolves with false, when whoever it is for may no longer have it. */
  readonly isAllowed: () => Promise<boolean>;
  /** The cheaper half of that, which time alone can change: false when the credentials are good for nothing any more; left out when they always are. */
  readonly isStillProven?: (() => Promise<boolean>) | undefined;
};

export type OpenStream = Permission & {
  /** Cuts it off. */
  readonly end: () => void;
};

type Ask = (stream: OpenStream) => boolean | Promise<boolean>;

const LOOK_EVERY_MS = 5_000;
const RBAC = 'rbac.authorization.k8s.io/';

export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  readonly #options: { readonly store: Store; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };
  #wake = new AbortController();

  constructor(options: { store: Store; clock: Clock; log: Logger; signal: AbortSignal }) {
    this.#options = options;
    const stop = options.store.watch(RBAC, options.store.revision, () => this.#wake.abort());
    options.signal.addEventListener(
      'abort',
      () => {
        stop();
        this.#wake.abort();
      },
      { once: true },
    );
    void this.#run();
  }

  /** Keeps an eye on it; what is returned ends that. */
  add(stream: OpenStream): () => void {
    this.#open.add(stream);
    return () => void this.#open.delete(stream);
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, this.#wake.signal);
      if (signal.aborted) return;
      const haveRightsChanged = this.#wake.signal.aborted;
      // Whatever changes from now on is looked at again: many changes in a row cost one look at what they come to.
      if (haveRightsChanged) this.#wake = new AbortController();
      await this.#look(haveRightsChanged ? ({ isAllowed }) => isAllowed() : ({ isStillProven }) => isStillProven?.() ?? true);
    }
  }

  async #look(ask: Ask): Promise<void> {
    for (const stream of [...this.#open]) {
      if (!this.#open.has(stream) || (await this.#isTrue(() => ask(stream)))) continue;
      this.#open.delete(stream);
      this.#options.log.info('stream ended', { user: stream.user, because: 'the user may no longer have it' });
      stream.end();
    }
  }

  async #isTrue(ask: () => boolean | Promise<boolean>): Promise<boolean> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError)) this.#options.log.error('cannot tell whether a stream is still allowed', { error });
      return false;
    }
  }
}
