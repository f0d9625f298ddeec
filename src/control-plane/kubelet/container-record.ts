/** What the kubelet knows about one container, and the questions asked of it. Pure. */
import { type Backoff, backoffMs } from '../../base/backoff.ts';
import type { ProcessIdentity } from '../../base/node/process-identity.ts';
import type { EventToRecord } from '../../reconcile/decision.ts';

/** How a run of a container ended. */
export type Ended = {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAtMs?: number;
  readonly finishedAtMs: number;
};

export type Run =
  | { readonly is: 'waiting' }
  | { readonly is: 'running'; readonly process: ProcessIdentity; readonly startedAtMs: number; readonly stopSentAtMs?: number }
  | ({ readonly is: 'ended' } & Ended);

/** Why something could not be done; it is tried again later. */
export type Setback = {
  readonly kind: 'image' | 'config' | 'volume' | 'sandbox';
  readonly image?: string;
  /** What is shown of an image that is not even asked for. */
  readonly reason?: 'InvalidImageName' | 'ErrImageNeverPull';
  /** The image is simply not there yet: worth a look more often than the back-off says. */
  readonly isMissing?: boolean;
  readonly message: string;
  /** In a row. */
  readonly failures: number;
  readonly atMs: number;
};

export type ContainerRecord = {
  readonly name: string;
  readonly isInit: boolean;
  /** Put beside the others later: it says nothing about how the Pod is. */
  readonly isEphemeral?: boolean;
  /** Its image is on the way. */
  readonly isPreparing?: boolean;
  readonly restartCount: number;
  /** Runs that ended since it last ran for a good while. */
  readonly crashes: number;
  readonly run: Run;
  /** The run before this one. */
  readonly last?: Ended;
  readonly setback?: Setback;
  /** What its probes say; nothing without probes. */
  readonly isReady?: boolean;
  readonly isStarted?: boolean;
  /** The probe because of which this run has to end. */
  readonly doomedBy?: 'startup' | 'liveness';
};

const CRASH_BACKOFF: Backoff = { firstMs: 10_000, capMs: 300_000 };
const RETRY_BACKOFF: Readonly<Record<Setback['kind'], Backoff>> = {
  image: { firstMs: 10_000, capMs: 300_000 },
  config: { firstMs: 1_000, capMs: 120_000 },
  volume: { firstMs: 1_000, capMs: 120_000 },
  sandbox: { firstMs: 5_000, capMs: 300_000 },
};
/** A run this long makes the crashes before it forgotten. */
const GOOD_RUN_MS = 600_000;
/** Upstream shows the error itself first, and the back-off from its next look on. */
const ERROR_SHOWN_MS = 1_000;

/** How long a container waits before its next run: not at all the first time, then 10 s, 20 s, ... 5 min. */
export function crashDelayMs({ crashes }: Pick<ContainerRecord, 'crashes'>): number {
  return crashes <= 1 ? 0 : backoffMs(CRASH_BACKOFF, crashes - 1);
}

/** When the next run may start. */
export function restartAtMs(container: ContainerRecord & { readonly run: Ended }): number {
  return container.run.finishedAtMs + crashDelayMs(container);
}

/** When to try again what failed. */
export function retryAtMs({ kind, failures, atMs }: Setback): number {
  return atMs + backoffMs(RETRY_BACKOFF[kind], failures);
}

/** One more failure of the same attempt. */
export function setBackAgain(before: Setback | undefined, failure: Omit<Setback, 'failures'>): Setback {
  return { ...failure, failures: (before?.failures ?? 0) + 1 };
}

/** The container after its run has ended. */
export function afterEnd(container: ContainerRecord, ended: Ended): ContainerRecord {
  const ranMs = ended.finishedAtMs - (ended.startedAtMs ?? ended.finishedAtMs);
  return { ...container, run: { is: 'ended', ...ended }, crashes: ranMs >= GOOD_RUN_MS ? 1 : container.crashes + 1 };
}

/** The container as it is about to start its next run. */
export function beforeStart(container: ContainerRecord): ContainerRecord {
  const { run } = container;
  if (run.is !== 'ended') return container;
  const { is: _, ...last } = run;
  return { ...container, run: { is: 'waiting' }, last, restartCount: container.restartCount + 1 };
}

/** The `waiting` part of a status for a setback, as upstream words it. */
export function waitingFor(setback: Setback, now: number): { readonly reason: string; readonly message: string } {
  const { kind, image, message, atMs } = setback;
  switch (kind) {
    case 'image':
      if (setback.reason) return { reason: setback.reason, message };
      if (now - atMs < ERROR_SHOWN_MS) return { reason: 'ErrImagePull', message };
      return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}": ErrImagePull: ${message}` };
    case 'config':
      return { reason: 'CreateContainerConfigError', message };
    case 'volume':
    case 'sandbox':
      return { reason: 'ContainerCreating', message };
  }
}

/** What is told of it, as upstream words it. */
export function eventsOf({ kind, image, message, reason }: Setback): EventToRecord[] {
  const warn = (because: EventToRecord['reason'], text: string): EventToRecord => ({ type: 'Warning', reason: because, message: text });
  switch (kind) {
    case 'image':
      if (reason) return [warn(reason === 'InvalidImageName' ? 'InspectFailed' : reason, message), warn('Failed', `Error: ${reason}`)];
      return [
        warn('Failed', `Failed to pull image "${image}": ${message}`),
        warn('Failed', 'Error: ErrImagePull'),
        { type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${image}"` },
        warn('Failed', 'Error: ImagePullBackOff'),
      ];
    case 'volume':
      return [warn('FailedMount', message)];
    case 'sandbox':
      return [warn('FailedCreatePodSandBox', message)];
    case 'config':
      return [warn('Failed', message)];
  }
}

/** How soon the words for a setback change or it is time to look whether it can be overcome. */
export function lookAgainForMs(setback: Setback, now: number): number {
  const untilRetry = Math.max(0, retryAtMs(setback) - now);
  if (setback.kind !== 'image') return untilRetry;
  const sinceError = now - setback.atMs;
  if (sinceError < ERROR_SHOWN_MS) return ERROR_SHOWN_MS - sinceError;
  return setback.isMissing ? Math.min(untilRetry, 2_000) : untilRetry;
}
