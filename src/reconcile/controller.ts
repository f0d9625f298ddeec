/**
 * The one reconcile loop: caches and other sources wake keys, keys are observed, what was decided is performed, failures back off. What
 * `decide` returned is what is logged and what is done, in its order: writes by the loop itself, everything else by the controller's `act`.
 */
import type { RefusalEventReason } from '../api/core/event-reasons.ts';
import { type KubeObject, keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import { ApiError, messageOf, TerminalError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { MetricFamilies } from '../base/metrics.ts';
import type { Client } from '../client/client.ts';
import { type Applied, applyAction, type LookAgain, type ResourceOf, type Written } from './apply.ts';
import { type Action, type Decision, detailsOf, type EventToRecord, isWrite, type OtherAction, subjectOf, summaryOf } from './decision.ts';
import { createEventRecorder, type EventRecorder } from './events.ts';
import { Freshness } from './freshness.ts';
import { KeyedQueue } from './queue.ts';
import { QueueFigures } from './queue-figures.ts';
import type { Source } from './source.ts';

/** Performs what is no write. It may begin what takes long: how that went is for a later observation, of which a source tells. */
export type Act<Observed, Other extends OtherAction> = (action: Other, observed: Observed) => Acted | Promise<Acted>;
type Acted = LookAgain | undefined;

export type ControllerOptions<Observed, Other extends OtherAction = never> = {
  /** Shown as the source of events: `virtualmachine-controller`. */
  readonly name: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** What wakes keys. */
  readonly triggers: readonly Source[];
  /** Everything `decide` may look at, or undefined when the subject is gone. Looks, and changes nothing. */
  readonly observe: (key: string) => Observed | undefined | Promise<Observed | undefined>;
  readonly decide: (observed: Observed) => Decision<Other>;
  /** The object that events of this decision are recorded on. */
  readonly subject: (observed: Observed) => KubeObject;
  readonly workers?: number;
  /** Which of the keys that are ready comes first: the one with the most. In the order of their wake-ups when left out. */
  readonly rankOf?: (key: string) => number;
  /** Where kinds live that `api/known-resources.ts` does not list. */
  readonly resourceOf?: ResourceOf;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
} & ([Other] extends [never] ? { readonly act?: never } : { readonly act: Act<Observed, Other> });

type Loop<Observed> = Omit<ControllerOptions<Observed>, 'decide' | 'act'> & {
  readonly decide: (observed: Observed) => Decision<OtherAction>;
  readonly act: Act<Observed, OtherAction>;
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
export async function runController<Observed, Other extends OtherAction = never>(
  options: ControllerOptions<Observed, Other>,
): Promise<void> {
  const { name, client, clock, signal, triggers, workers = WORKERS } = options;
  const log = options.log.with({ controller: name });
  const figures = new QueueFigures(name);
  const queue = new KeyedQueue({ clock, signal, onEvent: figures.observe, ...(options.rankOf && { rankOf: options.rankOf }) });
  if (options.metrics) figures.addTo(options.metrics, { queue, signal });
  const recorder = createEventRecorder({ client, clock, log, component: name });
  const caches = triggers.flatMap(({ cache = [] }) => cache);
  const freshness = new Freshness({ caches, clock, signal });
  const stops = triggers.map((source) => source.subscribe((key) => queue.add(key)));
  const act = (options.act ?? refuse) as Act<Observed, OtherAction>; // is given only what its own `decide` has made
  const loop: Loop<Observed> = { ...options, act, log, queue, recorder, freshness, deadEnds: new Map() };
  if (await haveSynced(triggers, signal)) await Promise.all(Array.from({ length: workers }, () => work(loop)));
  for (const stop of stops) stop();
  freshness.stop();
  await recorder.flush();
}

/** Of a controller without `act` the types let nothing come here. */
function refuse(action: OtherAction): never {
  throw new TerminalError(`Cannot ${action.do}: nobody here knows how`);
}

async function haveSynced(sources: readonly Source[], signal: AbortSignal): Promise<boolean> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  // A cache rejects only because its signal aborted, which then is ours too or the end of what this controller can see.
  const synced = Promise.all(sources.map((source) => source.synced)).then(
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
      const outdated = await perform({ loop, actions, observed, written });
      if (outdated !== undefined) {
        const failures = queue.retry(key);
        log[failures < PATIENT_TRIES ? 'debug' : 'warn']('looking again', { object: key, because: outdated, failures });
        return written;
      }
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

type Performance<Observed> = {
  readonly loop: Loop<Observed>;
  readonly actions: readonly (Action | OtherAction)[];
  readonly observed: Observed;
  readonly written: Written[];
};

/** Performs actions in order until one is out of date; returns why, or undefined when all were done. */
async function perform<Observed>({ loop, actions, observed, written }: Performance<Observed>): Promise<string | undefined> {
  const { recorder, log, signal } = loop;
  const subject = loop.subject(observed);
  for (const action of actions) {
    if (signal.aborted) return 'shutting down';
    let applied: Applied;
    try {
      applied = isWrite(action) ? await applyAction(action, loop) : ((await loop.act(action, observed)) ?? { outcome: 'done' });
    } catch (error) {
      const refusal = isWrite(action) ? refusalOf(action, error) : undefined;
      if (refusal) recorder.record(subject, refusal);
      throw error;
    }
    if (applied.outcome === 'look again') return `${summaryOf(action)}: ${applied.why}`;
    if (applied.written) written.push(applied.written);
    if (action.do !== 'record') log.info(action.do, { ...shownOf(action, subject), because: action.because });
    if (action.event) recorder.record(action.event.about ?? subject, action.event);
  }
  return undefined;
}

function shownOf(action: Action | OtherAction, subject: KubeObject): Readonly<Record<string, string | number>> {
  if (isWrite(action)) return { object: subjectOf(action) };
  return { object: `${subject.kind} ${keyOf(subject.metadata)}`, ...detailsOf(action) };
}

const REFUSALS: Readonly<Record<Exclude<Action['do'], 'record'>, RefusalEventReason>> = {
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
