/**
 * Where virt-api of this process is reached. The API serves before virt-api does, and for a moment after it: a write that has to be admitted
 * meanwhile waits for a short time and is then told to come again. It has not failed, so it is never an internal error.
 *
 *   starting   writes wait, at most HOLD_MS and at most MOST_HELD of them; 503 with Retry-After otherwise
 *   serving    its address
 *   stopped    503 with Retry-After at once: the next process answers
 */
import { INSTALL_NAMESPACE } from '../../api/kubevirt/names.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { ServiceAddress } from '../../control-plane/apiserver/aggregation/service-proxy.ts';

/** Half of what a webhook is given, so that the other half is left for its answer. */
const HOLD_MS = 5_000;
/** Fewer than one user may have under way: held writes take no reads away. */
const MOST_HELD = 50;
const RETRY_AFTER_SECONDS = 1;
export const VIRT_API_SERVICE = 'virt-api';

export class VirtApiEndpoint {
  readonly #clock: Clock;
  readonly #changed = new AbortController();
  #state: 'starting' | 'stopped' | ServiceAddress = 'starting';
  #held = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on it admits, here. */
  serve(address: ServiceAddress): void {
    this.#state = address;
    this.#changed.abort();
  }

  /** It is about to end. */
  stop(): void {
    this.#state = 'stopped';
    this.#changed.abort();
  }

  isFor(namespace: string, service: string): boolean {
    return namespace === INSTALL_NAMESPACE && service === VIRT_API_SERVICE;
  }

  /** Why nothing is admitted now, undefined when it is. */
  whyNotReady(): string | undefined {
    return typeof this.#state === 'string' ? `virt-api is ${this.#state}` : undefined;
  }

  /** ServiceUnavailable when it does not serve now. */
  address(): ServiceAddress {
    if (typeof this.#state === 'string') throw comeAgain(this.#state);
    return this.#state;
  }

  /** Its address as soon as it serves, within reason. */
  async untilServing(): Promise<ServiceAddress> {
    if (this.#state === 'starting' && this.#held < MOST_HELD) {
      this.#held += 1;
      await this.#clock.sleep(HOLD_MS, this.#changed.signal);
      this.#held -= 1;
    }
    return this.address();
  }
}

function comeAgain(state: string): ApiError {
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new ApiError('ServiceUnavailable', `virt-api of this cluster is ${state}, please try again later`, { details });
}
