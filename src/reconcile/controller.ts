/** The one reconcile loop: caches wake keys, keys are observed, decisions are applied, failures back off. */
import type { KubeObject } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError, messageOf, TerminalError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Cache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import { applyAction, type ResourceOf, type Written } from './apply.ts';
import { type Action, type Decision, type EventToRecord, subjectOf } from './decision.ts';
import { createEventRecorder, type EventRecorder } from './events.ts';
import { Freshness } from './freshness.ts';
import { KeyedQueue } from './queue.ts';

/** A cache, or anything else that tells of changes as one does; only a cache's own `resource` is waited for after a write. */
type Source = Pick<Cache<KubeObject>, 'subscribe' | 'synced'> & Partial<Cache<KubeObject>>;

export type Trigger = {
  readonly cache: Source;
  /** Which keys of this controller a change of that object concerns (asked for the old and the new state). */
  readonly keysOf: (object: KubeObject) => readonly string[];
};

export type ControllerOptions<Observed> = {
  /** Shown as the source of events: `virtualmachine-controller`. */
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly triggers: readonly Trigger[];
  /** Everything `decide` may look at, or undefined when the subject is gone. */
  readonly observe: (key: string) => Observed | undefined | Promise<Observed | undefined>;
  readonly decide: (observed: Observed) => Decision;
  /** The object that events of this decision are recorded on. */
  readonly subject: (observed: Observed) => KubeObject;
  /** What lies outside the API, such as a command to QEMU: done once the actions of the same decision have succeeded. */
  readonly after?: (observed: Observed) => void;
  readonly workers?: number;
  /** Where kinds live that `api/known-resources.ts` does not list. */
  readonly resourceOf?: ResourceOf;
};

type Loop<Observed> = ControllerOptions<Observed> & {
  readonly queue: KeyedQueue;
  readonly recorder: EventRecorder;
  readonly freshness: Freshness;
  /** What was last reported as beyond repair, by key. */
  readonly deadEnds: Map<string, string>;
};

const WORKERS = 4;
/** Looking again is part of life; needing to this often in a row is worth a line. */
const PATIENT_TRIES = 6;

/** Runs until the signal aborts; resolves when the last worker has finished what it was doing. */
export async function runController<Observed>(options: ControllerOptions<Observed>): Promise<void> {
  const { name, client, clock, signal, triggers, workers = WORKERS } = options;
  const log = options.log.with({ controller: name });
  const queue = new KeyedQueue({ clock, signal });
  const recorder = createEventRecorder({ client, clock, log, component: name });
  const freshness = new Freshness({ caches: triggers.map(({ cache }) => cache).filter(isCache), clock, signal });
  const stops = triggers.map((trigger) => wakeOnChange(trigger, queue));
  const loop: Loop<Observed> = { ...options, log, queue, recorder, freshness, deadEnds: new Map() };
  if (await haveSynced(triggers, signal)) await Promise.all(Array.from({ length: workers }, () => work(loop)));
  for (const stop of stops) stop();
  freshness.stop();
  await recorder.flush();
}

function isCache(source: Source): source is Cache<KubeObject> {
  return source.resource !== undefined && source.get !== undefined;
}

function wakeOnChange({ cache, keysOf }: Trigger, queue: KeyedQueue): () => void {
  return cache.subscribe((change) => {
    const states = change.type === 'modified' ? [change.old, change.object] : [change.object];
    // Each key once: a free worker takes a key as it is added, and a second add would make it look twice.
    for (const key of new Set(states.flatMap((state) => keysOf(state)))) queue.add(key);
  });
}

async function haveSynced(triggers: readonly Trigger[], signal: AbortSignal): Promise<boolean> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  // A cache rejects only because its signal aborted, which then is ours too or the end of what this controller can see.
  const synced = Promise.all(triggers.map(({ cache }) => cache.synced)).then(
    () => true,
    () => false,
  );
  return (await Promise.race([synced, aborted.then(() => false)])) && !signal.aborted;
}

async function work<Observed>(loop: Loop<Observed>): Promise<void> {
  const { queue, freshness } = loop;
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    const mine = key;
    const written = await reconcile(loop, mine);
    // Not awaited: the worker goes on, only this key waits until the caches show what was written for it.
    void freshness.caughtUp(written).then(() => queue.done(mine));
  }
}

/** One look at one key; never throws. */
async function reconcile<Observed>(loop: Loop<Observed>, key: string): Promise<Written[]> {
  const { queue, log, deadEnds } = loop;
  const written: Written[] = [];
  let observed: Observed | undefined;
  try {
    observed = await loop.observe(key);
    if (observed !== undefined) {
      const { actions, lookAgainAfterMs } = loop.decide(observed);
      const outdated = await perform({ loop, actions, subject: loop.subject(observed), written });
      if (outdated !== undefined) {
        const failures = queue.retry(key);
        log[failures < PATIENT_TRIES ? 'debug' : 'warn']('looking again', { object: key, because: outdated, failures });
        return written;
      }
      loop.after?.(observed);
      if (lookAgainAfterMs !== undefined) queue.addAfter(key, lookAgainAfterMs);
    }
    queue.forget(key);
    deadEnds.delete(key);
  } catch (error) {
    if (error instanceof TerminalError) giveUp({ loop, key, observed, error });
    else log.warn('failed, trying again', { object: key, failures: queue.retry(key), error });
  }
  return written;
}

type Performance = {
  readonly loop: Pick<ControllerOptions<never>, 'client' | 'clock' | 'log' | 'signal' | 'resourceOf'> & {
    readonly recorder: EventRecorder;
  };
  readonly actions: readonly Action[];
  readonly subject: KubeObject;
  readonly written: Written[];
};

/** Performs actions in order until one is out of date; returns why, or undefined when all were done. */
async function perform({ loop, actions, subject, written }: Performance): Promise<string | undefined> {
  const { recorder, log, signal } = loop;
  for (const action of actions) {
    if (signal.aborted) return 'shutting down';
    let applied: Awaited<ReturnType<typeof applyAction>>;
    try {
      applied = await applyAction(action, loop);
    } catch (error) {
      const refusal = refusalOf(action, error);
      if (refusal) recorder.record(subject, refusal);
      throw error;
    }
    if (applied.outcome === 'look again') return `${action.do} ${subjectOf(action)}: ${applied.why}`;
    if (applied.written) written.push(applied.written);
    if (action.do !== 'record') log.info(action.do, { object: subjectOf(action), because: action.because });
    if (action.event) recorder.record(subject, action.event);
  }
  return undefined;
}

const REFUSALS: Readonly<Record<Exclude<Action['do'], 'record'>, string>> = {
  create: 'FailedCreate',
  apply: 'FailedUpdate',
  patch: 'FailedUpdate',
  delete: 'FailedDelete',
  bind: 'FailedBinding',
};

/** What the server refuses (quota, admission, permission) its owner wants to read; that it is down, not. */
function refusalOf(action: Action, error: unknown): EventToRecord | undefined {
  if (action.do === 'record' || !(error instanceof ApiError) || error.code >= 500 || error.code === 429) return undefined;
  return { type: 'Warning', reason: REFUSALS[action.do], message: `Cannot ${action.do} ${subjectOf(action)}: ${error.message}` };
}

type DeadEnd<Observed> = {
  readonly loop: Loop<Observed>;
  readonly key: string;
  readonly observed: Observed | undefined;
  readonly error: TerminalError;
};

/** No retry can mend this: say so once, and wait for the object to change. */
function giveUp<Observed>({ loop, key, observed, error }: DeadEnd<Observed>): void {
  const message = messageOf(error);
  loop.queue.forget(key);
  if (loop.deadEnds.get(key) === message) return;
  loop.deadEnds.set(key, message);
  loop.log.error('giving up until something changes', { object: key, error });
  if (observed !== undefined) loop.recorder.record(loop.subject(observed), { type: 'Warning', reason: 'FailedReconcile', message });
}
