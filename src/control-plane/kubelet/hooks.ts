/**
 * What a container asks for after its start and before its end. A hook that fails after the start ends the container; one before the end
 * delays the signal, no longer than the grace period, which it uses up.
 */
import type { Container, LifecycleHandler, Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { EventRecorder } from '../../reconcile/events.ts';
import { type ProbeRun, runProbe } from './run-probe.ts';

type HooksOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly events: EventRecorder;
  readonly exec: ProbeRun['exec'];
  /** False for a container that programs cannot be started in. */
  readonly canExec: (container: Container) => boolean;
  /** True while programs can be started in it. */
  readonly runs: (name: string) => boolean;
};
type Call = { readonly pod: Pod; readonly container: Container; readonly podIP: string };

const LOOK_MS = 50;
const LOOKS = 600;
/** As any hook that hangs would be cut off: a container is not to be new for ever. */
const POST_START_MS = 10 * 60_000;

export class Hooks {
  readonly #options: HooksOptions;
  /** Containers whose first hook is not done. */
  readonly #starting = new Set<string>();

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** True until what is to follow the start has been done: so long it is neither started nor ready. */
  isStarting(name: string): boolean {
    return this.#starting.has(name);
  }

  /** Resolves with false when the container has to end because of it. */
  async afterStart(call: Call): Promise<boolean> {
    const { pod, container } = call;
    const hook = this.#usable(container, container.lifecycle?.postStart);
    if (!hook) return true;
    this.#starting.add(container.name);
    try {
      const why = (await this.#untilItRuns(container.name)) ? await this.#run(hook, call, POST_START_MS) : 'the container has ended';
      if (why === undefined) return true;
      this.#options.events.record(pod, { type: 'Warning', reason: 'FailedPostStartHook', message: `PostStartHook failed: ${why}` });
      return false;
    } finally {
      this.#starting.delete(container.name);
    }
  }

  /** True when there is something to wait for before its end. */
  hasPreStop(container: Container | undefined): boolean {
    return container !== undefined && this.#usable(container, container.lifecycle?.preStop) !== undefined;
  }

  /** Resolves when the container may be told to end; a hook that fails does not keep it. */
  async beforeStop(call: Call, graceSeconds: number): Promise<void> {
    const { pod, container } = call;
    const hook = this.#usable(container, container.lifecycle?.preStop);
    const why = hook && (await this.#run(hook, call, graceSeconds * 1000));
    if (why !== undefined)
      this.#options.events.record(pod, { type: 'Warning', reason: 'FailedPreStopHook', message: `PreStopHook failed: ${why}` });
  }

  #usable(container: Container, hook: LifecycleHandler | undefined): LifecycleHandler | undefined {
    return hook?.exec && !this.#options.canExec(container) ? undefined : hook;
  }

  async #run(hook: LifecycleHandler, { container, podIP }: Call, limitMs: number): Promise<string | undefined> {
    const signal = AbortSignal.any([this.#options.signal, timeoutSignal(Math.max(1, limitMs))]);
    if (hook.sleep) {
      await this.#options.clock.sleep(hook.sleep.seconds * 1000, signal);
      return undefined;
    }
    return runProbe({ probe: hook, container, podIP, signal, exec: this.#options.exec });
  }

  async #untilItRuns(name: string): Promise<boolean> {
    const { clock, signal, runs } = this.#options;
    for (let look = 0; look < LOOKS && !signal.aborted; look++) {
      if (runs(name)) return true;
      await clock.sleep(LOOK_MS, signal);
    }
    return false;
  }
}
