/** One of several processes works at a time: the one that holds a Lease. Whoever cannot renew it in time stops before another may start. */
import { LEASES, type Lease } from '../api/core/lease.ts';
import type { Clock } from '../base/clock.ts';
import { isApiError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Client } from './client.ts';
import { decideLease } from './decide-lease.ts';

export type LeaderOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly name: string;
  /** Of this process alone: one that restarts is another candidate. */
  readonly identity: string;
  /** Works while we lead; its signal aborts when we stop or no longer do. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
};

const DURATION_S = 15;
/** A leader that could not renew for this long stops. The rest of the duration is its time to do so. */
const RENEW_WITHIN_MS = 10_000;
const RETRY_MS = 2_000;
const ANSWER_MS = 5_000;

/** Waits for its turn, leads, and resolves after the signal; throws when the lease was lost, because what led cannot lead again. */
export async function runLeader(options: LeaderOptions): Promise<void> {
  const { clock, log, signal, lead } = options;
  const holder = new LeaseHolder(options);
  while (!signal.aborted && !(await holder.step())) await clock.sleep(RETRY_MS, signal);
  if (signal.aborted) return;
  log.info('leading', { lease: `${options.namespace}/${options.name}`, because: holder.because });
  const ended = new AbortController();
  const working = lead(AbortSignal.any([signal, ended.signal])).finally(() => ended.abort());
  try {
    await keepRenewing(holder, options, ended.signal);
  } finally {
    ended.abort();
    await working;
  }
  await holder.release();
}

async function keepRenewing(holder: LeaseHolder, { clock, signal, name }: LeaderOptions, ended: AbortSignal): Promise<void> {
  const stop = AbortSignal.any([signal, ended]);
  let renewedAt = clock.steady();
  while (!stop.aborted) {
    await clock.sleep(RETRY_MS, stop);
    if (stop.aborted) return;
    const askedAt = clock.steady();
    if (await holder.step()) renewedAt = askedAt;
    else if (holder.isLost || clock.steady() - renewedAt >= RENEW_WITHIN_MS) throw new Error(`lost the lease ${name}: ${holder.because}`);
  }
}

class LeaseHolder {
  readonly #options: LeaderOptions;
  #content = '';
  #unchangedSince = 0;
  /** Why the last step went as it did. */
  because = '';
  /** Somebody else holds it for certain. */
  isLost = false;

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  /** Tries once to hold the lease; true when we do. */
  async step(): Promise<boolean> {
    const { client, clock, namespace, name, identity, log } = this.#options;
    try {
      const lease = await withDeadline(client.get(LEASES, { namespace, name }), clock);
      this.#remember(lease);
      const step = decideLease({ lease, identity, unchangedSince: this.#unchangedSince, now: clock.steady() });
      this.because = step.because;
      this.isLost = step.do === 'wait';
      if (step.do === 'wait') return false;
      const next = this.#next(lease, step.do === 'renew');
      await withDeadline(lease ? client.update(LEASES, next) : client.create(LEASES, next), clock);
      return true;
    } catch (error) {
      if (!isApiError(error, 'Conflict') && !isApiError(error, 'AlreadyExists')) this.because = messageOf(error);
      log.debug('cannot hold the lease, trying again', { lease: name, error: messageOf(error) });
      return false;
    }
  }

  /** Lets the next one lead at once. */
  async release(): Promise<void> {
    const { client, clock, namespace, name, identity, log } = this.#options;
    try {
      const lease = await withDeadline(client.get(LEASES, { namespace, name }), clock);
      if (lease?.spec.holderIdentity !== identity) return;
      await withDeadline(client.update(LEASES, { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 } }), clock);
    } catch (error) {
      log.debug('could not give the lease back; it ends by itself', { error: messageOf(error) });
    }
  }

  #remember(lease: Lease | undefined): void {
    const content = JSON.stringify(lease?.spec);
    if (content === this.#content) return;
    this.#content = content;
    this.#unchangedSince = this.#options.clock.steady();
  }

  #next(lease: Lease | undefined, isOurs: boolean): Lease {
    const { clock, namespace, name, identity } = this.#options;
    const now = `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`; // with microseconds, as this kind has it
    const { acquireTime = now, leaseTransitions = 0 } = lease?.spec ?? {};
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: lease?.metadata ?? { namespace, name },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: DURATION_S,
        acquireTime: isOurs ? acquireTime : now,
        renewTime: now,
        leaseTransitions: isOurs || !lease ? leaseTransitions : leaseTransitions + 1,
      },
    };
  }
}

/** An API server that does not answer must not keep a leader from noticing that it is none any more. */
async function withDeadline<T>(answer: Promise<T>, clock: Clock): Promise<T> {
  const answered = new AbortController();
  const tooLate = clock.sleep(ANSWER_MS, answered.signal).then(() => {
    throw new Error(`no answer within ${ANSWER_MS / 1000} s`);
  });
  tooLate.catch(() => {}); // it may come after the answer, when nobody waits
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    answered.abort();
  }
}
