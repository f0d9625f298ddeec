/** Writes into the status of each quota how much of it is used: soon after a change, once for many. */
import type { ResourceQuota } from '../../../api/core/resource-quota.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import type { Store } from '../../store/store.ts';
import type { SelfRequest } from '../bootstrap.ts';
import type { QuotaLedger } from './quota-ledger.ts';

type Options = {
  readonly store: Store;
  readonly ledger: QuotaLedger;
  readonly request: SelfRequest;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

/** So long between two writes: a hundred new Pods are a few writes, not a hundred. */
const PAUSE_MS = 100;

/** Runs until the signal aborts. */
export async function keepQuotaStatus({ store, ledger, request, clock, log, signal }: Options): Promise<void> {
  const due = new Set(ledger.keys());
  let wake = () => {};
  ledger.onChange = (key) => {
    due.add(key);
    wake();
  };
  signal.addEventListener('abort', () => wake(), { once: true });
  while (!signal.aborted) {
    const keys = [...due];
    due.clear();
    await Promise.all(keys.map((key) => write(key).catch((error) => failed(key, error))));
    if (keys.length > 0) await clock.sleep(PAUSE_MS, signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    if (due.size === 0 && !signal.aborted) await promise;
  }

  async function write(key: string): Promise<void> {
    const status = ledger.statusOf(key);
    const quota = store.get(key)?.value as ResourceQuota | undefined; // under this prefix there are no others
    if (!status || !quota || deepEqual(quota.status, status)) return;
    const { namespace, name } = quota.metadata;
    const patch = { hard: replacing(quota.status?.hard, status.hard), used: replacing(quota.status?.used, status.used) };
    const answer = await request('PATCH', `/api/v1/namespaces/${namespace}/resourcequotas/${name}/status`, { status: patch });
    if (!answer.ok && answer.status !== 404) throw new Error(`the answer is ${answer.status}: ${await answer.text()}`);
  }

  /** A full disk may have room again later. */
  function failed(quota: string, error: unknown): void {
    log.warn('the status of a quota cannot be written', { quota, because: messageOf(error) });
    if (!signal.aborted) due.add(quota);
  }
}

/** As a merge patch: what is there no longer has to be taken away by name. */
function replacing(old: Readonly<Record<string, string>> = {}, now: Readonly<Record<string, string>> = {}): Record<string, string | null> {
  return { ...Object.fromEntries(Object.keys(old).map((name) => [name, null])), ...now };
}
