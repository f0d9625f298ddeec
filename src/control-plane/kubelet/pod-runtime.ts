/** One Pod on this node for as long as it is here: its containers, its volumes, and the few things that can be done to them. */
import { existsSync } from 'node:fs';
import { constants, totalmem } from 'node:os';
import type { Container, Pod } from '../../api/core/pod.ts';
import { isDeleting, keyOf } from '../../api/meta.ts';
import { ApiError, isApiError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { updatePodRecord } from '../../base/node/pod-record.ts';
import { isSameProcess, type ProcessIdentity, signalProcess } from '../../base/node/process-identity.ts';
import { builtInImageOf, findBuiltIn } from './built-in-images.ts';
import { afterEnd, beforeStart, type ContainerRecord, type Ended, type Setback, setBackAgain } from './container-record.ts';
import { DEFAULT_GRACE_SECONDS } from './decide-containers.ts';
import { oomScoreOf } from './default-qos-class.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { loadContainers } from './load-containers.ts';
import { lastWords, limitLog, removeOldLogs } from './log-files.ts';
import type { ObservedPod } from './observed.ts';
import { createPodFolder, podDir, readPodIdentity, removePodFolder } from './pod-folder.ts';
import { volumeOwner } from './privileges.ts';
import { Probes } from './probes.ts';
import { findProcesses, type Launch, launch, makeContainerFolders, planLaunch, setOomScore } from './start-container.ts';
import { saveContainer } from './state-file.ts';
import { ImageError, prepareVolumes } from './volumes.ts';

const SWEEP_TRIES = 50;
const SWEEP_PAUSE_MS = 20;

type Exit = { readonly identity: ProcessIdentity; readonly code: number | null; readonly signal: NodeJS.Signals | null };

export class PodRuntime {
  readonly uid: string;
  readonly dir: string;
  /** Says of which Pod it speaks. */
  readonly log: Logger;
  readonly #context: KubeletContext;
  readonly #containers = new Map<string, ContainerRecord>();
  /** Containers whose end we are told; the others are looked after by `lookAround`. */
  readonly #own = new Set<string>();
  readonly #unsaved = new Set<string>();
  readonly #probes: Probes;
  /** No trace is left: the object may still be in the API, held by somebody's finalizer. */
  isCleanedUp = false;
  #volumes: ObservedPod['volumes'] = 'absent';
  /** The store that we work for has never had it. */
  readonly #isForeign: boolean;
  #preparation: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;

  /** Finds what an earlier kubelet left of this Pod and takes it over; nothing is started or ended. */
  constructor(context: KubeletContext, uid: string, pod: Pod | undefined) {
    this.#context = context;
    this.uid = uid;
    this.dir = podDir(context.rootDir, uid);
    this.#probes = new Probes({
      clock: context.clock,
      signal: context.signal,
      onVerdict: () => context.wake(uid),
      onFailure: (probed, kind, why) => {
        const message = `${kind[0]?.toUpperCase()}${kind.slice(1)} probe failed: ${why}`;
        context.events.record(probed, { type: 'Warning', reason: 'Unhealthy', message });
      },
    });
    const record = readPodIdentity(this.dir);
    this.#isForeign = !pod && context.clusterId !== undefined && record?.clusterId !== context.clusterId;
    const identity = pod?.metadata ?? record;
    this.log = context.log.with({ object: `Pod ${identity ? keyOf(identity) : '?'}`, uid });
    for (const container of loadContainers({ dir: this.dir, pod, now: context.clock.now() }))
      this.#containers.set(container.name, container);
    if (pod && record && record.clusterId !== context.clusterId) this.#takeRecord();
    if (this.#isForeign)
      this.log.warn('a Pod that the store does not know is left alone', { because: 'it was started under another store' });
  }

  observe(pod: Pod | undefined): Pick<ObservedPod, 'isForeign' | 'containers' | 'volumes'> {
    const containers = [...this.#containers.values()].map((each) => ({ ...each, ...this.#probes.of(pod, each) }));
    return { isForeign: this.#isForeign, containers, volumes: this.#volumesNow() };
  }

  /** What could not be brought because an image was missing can be tried at once when that has come. */
  #volumesNow(): ObservedPod['volumes'] {
    const volumes = this.#volumes;
    const hasCome = typeof volumes === 'object' && volumes.isMissing && volumes.image && this.#context.images.resolve(volumes.image);
    return hasCome ? 'absent' : volumes;
  }

  container(name: string): ContainerRecord | undefined {
    return this.#containers.get(name);
  }

  /** The Pod's address, the same for as long as it lives. */
  podIP(pod: Pod): string {
    return this.#context.addresses.take(this.uid, pod.status?.podIP);
  }

  /** The API has it: from now on it is this store's, which may delete it. */
  #takeRecord(): void {
    try {
      updatePodRecord(this.dir, { clusterId: this.#context.clusterId });
    } catch (error) {
      this.log.warn('cannot write down whose Pod this is', { error }); // a full disk; the next start does it
    }
  }

  /** Begins to bring the volumes; ends in a wake-up, not in this call. */
  prepare(pod: Pod): void {
    const stop = new AbortController();
    const volumes = this.#volumesNow();
    const before = typeof volumes === 'object' ? volumes : undefined;
    this.#volumes = 'preparing';
    const signal = AbortSignal.any([stop.signal, this.#context.signal]);
    const done = this.#bringVolumes(pod, signal)
      .then(
        () => {
          this.#volumes = 'ready';
        },
        (error: unknown) => {
          if (signal.aborted) return;
          this.#volumes = setBackAgain(before, { ...this.#setbackFrom(error, 'volume'), atMs: this.#context.clock.now() });
          this.#recordSetback(pod, this.#volumes);
        },
      )
      .finally(() => this.#context.wake(this.uid));
    this.#preparation = { stop, done };
  }

  async #bringVolumes(pod: Pod, signal: AbortSignal): Promise<void> {
    const { images, client, mayBecome, hostIP, clusterId } = this.#context;
    const podIP = this.podIP(pod);
    const { namespace = '', name, ownerReferences } = pod.metadata;
    const owner = ownerReferences?.find(({ controller }) => controller);
    await createPodFolder(this.dir, {
      uid: this.uid,
      namespace,
      name,
      podIP,
      ...(clusterId !== undefined && { clusterId }),
      ...(owner && { owner: `${owner.kind} ${owner.name}` }),
      graceSeconds: pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
    });
    const fields = { pod, podIP, hostIP };
    await prepareVolumes({ pod, dir: this.dir, fields, images, client, owner: volumeOwner(pod, mayBecome), signal });
  }

  /** Starts the next run of a container; what is wrong with its spec or image is remembered, not thrown. */
  async start(pod: Pod, name: string): Promise<void> {
    const before = this.#get(name);
    const next: ContainerRecord = { ...beforeStart(before), setback: undefined };
    let plan: Launch;
    try {
      await this.#assertMayUse(pod, name);
      plan = this.#plan(pod, next);
    } catch (error) {
      const setback = setBackAgain(before.setback, { ...this.#setbackFrom(error, 'config'), atMs: this.#context.clock.now() });
      this.#containers.set(name, { ...before, setback });
      this.#recordSetback(pod, setback);
      return;
    }
    await makeContainerFolders(this.dir, name);
    await removeOldLogs(this.dir, name, next.restartCount);
    await this.#launch(pod, next, plan);
  }

  /** Asks a container to end. Asking twice does no harm, so it is written down afterwards. */
  stop(pod: Pod, name: string): void {
    const container = this.#get(name);
    if (container.run.is !== 'running') return;
    const image = specOf(pod, name)?.image ?? '';
    const signal = findBuiltIn(this.#context.builtInImages, image)?.stopSignal ?? 'SIGTERM';
    signalProcess(container.run.process, signal);
    this.#keep({ ...container, run: { ...container.run, stopSentAtMs: this.#context.clock.now() } });
    this.#context.events.record(pod, { type: 'Normal', reason: 'Killing', message: `Stopping container ${name}` });
  }

  /** Ends a container and everything it has started in its session. */
  kill(name: string): void {
    const { run } = this.#get(name);
    if (run.is === 'running') signalProcess(run.process, 'SIGKILL', 'group');
  }

  /** Removes every trace: processes that got away from their container, the folder, the address. */
  async cleanUp(): Promise<void> {
    this.#preparation?.stop.abort(new Error('the Pod is gone'));
    await this.#preparation?.done;
    if (existsSync(this.dir)) {
      await this.#sweep();
      await removePodFolder(this.dir);
    }
    this.#context.addresses.release(this.uid);
    this.isCleanedUp = true;
  }

  /** What nobody tells us and has to be looked at now and then. */
  lookAround(pod: Pod | undefined): void {
    if (pod && !isDeleting(pod)) this.#probes.lookAround(pod, this.#containers.values(), this.podIP(pod));
    this.#save();
    this.#checkAdopted();
    for (const { name, run, restartCount } of this.#containers.values()) if (run.is === 'running') limitLog(this.dir, name, restartCount);
  }

  /** Notices adopted containers that have ended; they are nobody's children, so this is the only way. */
  #checkAdopted(): void {
    for (const container of this.#containers.values()) {
      const { name, run } = container;
      if (run.is !== 'running' || this.#own.has(name) || isSameProcess(run.process)) continue;
      for (const left of findProcesses(this.dir, name)) signalProcess(left, 'SIGKILL');
      this.#end(name, {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: 'The container ended while nobody could see its exit code',
      });
    }
  }

  /** Some images of ours do what their Pod says; those are for Pods that a component of ours has made. */
  async #assertMayUse(pod: Pod, name: string): Promise<void> {
    const image = findBuiltIn(this.#context.builtInImages, specOf(pod, name)?.image ?? '');
    const why = await image?.whyNotFor?.(pod, this.#context.signal);
    if (why !== undefined) throw new ApiError('Forbidden', why);
  }

  #plan(pod: Pod, { name, restartCount }: ContainerRecord): Launch {
    const { builtInImages, hostIP, apiServerUrl, mayBecome } = this.#context;
    const container = specOf(pod, name);
    if (!container) throw new ApiError('Invalid', `the Pod has no container "${name}"`);
    const reference = container.image ?? '';
    try {
      const image = builtInImageOf(builtInImages, reference);
      return planLaunch({ pod, container, image, dir: this.dir, restartCount, podIP: this.podIP(pod), hostIP, apiServerUrl, mayBecome });
    } catch (error) {
      if (isApiError(error, 'NotFound')) throw new ImageError(reference, error.message, error);
      throw error;
    }
  }

  /** From the first to the last line nobody else gets a turn but for the wait for a failed start. */
  async #launch(pod: Pod, next: ContainerRecord, plan: Launch): Promise<void> {
    const { clock, events } = this.#context;
    const startedAtMs = clock.now();
    saveContainer(this.dir, next, true);
    this.#containers.set(next.name, next);
    try {
      const { child, identity } = launch(plan);
      if (!identity) throw await new Promise((resolve) => child.once('error', resolve));
      this.#own.add(next.name);
      child.once('exit', (code, signal) => this.#onExit(next, pod, { identity, code, signal }));
      setOomScore(identity.pid, oomScoreOf(pod, totalmem()));
      child.on('error', () => {}); // a signal that could not be sent: seen by whoever sent it
      this.#keep({ ...next, run: { is: 'running', process: identity, startedAtMs } });
      events.record(pod, { type: 'Normal', reason: 'Started', message: `Started container ${next.name}` });
    } catch (error) {
      this.#end(next.name, { exitCode: 128, reason: 'StartError', message: messageOf(error) });
      events.record(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${messageOf(error)}` });
    }
  }

  #onExit({ name, restartCount }: ContainerRecord, pod: Pod, { identity, code, signal }: Exit): void {
    if (this.#context.signal.aborted) return; // a later kubelet may look after it now
    try {
      process.kill(-identity.pid, 'SIGKILL'); // what it started ends with it, as it would with a container
    } catch {
      // nothing was left
    }
    const number = signal ? constants.signals[signal] : undefined;
    const exitCode = code ?? 128 + (number ?? 0);
    const isLogTheMessage = exitCode !== 0 && specOf(pod, name)?.terminationMessagePolicy === 'FallbackToLogsOnError';
    const message = isLogTheMessage ? lastWords(this.dir, name, restartCount) : undefined;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    this.#end(name, { exitCode, ...(number && { signal: number }), reason, ...(message !== undefined && { message }) });
  }

  #end(name: string, how: Omit<Ended, 'finishedAtMs'>): void {
    const container = this.#get(name);
    const startedAtMs = container.run.is === 'running' ? container.run.startedAtMs : undefined;
    this.#own.delete(name);
    this.#keep(afterEnd(container, { ...how, startedAtMs, finishedAtMs: this.#context.clock.now() }));
    this.log.info('container ended', { container: name, ...how });
    this.#context.wake(this.uid);
  }

  /** A full disk must not hide what happened to a process: it is remembered, and written down as soon as that works. */
  #keep(container: ContainerRecord): void {
    this.#containers.set(container.name, container);
    this.#unsaved.add(container.name);
    this.#save();
  }

  #save(): void {
    for (const name of this.#unsaved) {
      try {
        saveContainer(this.dir, this.#get(name));
        this.#unsaved.delete(name);
      } catch (error) {
        this.log.warn('cannot write down the state of a container, trying again', { container: name, error });
      }
    }
  }

  #get(name: string): ContainerRecord {
    const found = this.#containers.get(name);
    if (!found) throw new ApiError('NotFound', `Pod ${this.uid} has no container "${name}"`);
    return found;
  }

  #setbackFrom(error: unknown, otherwise: 'config' | 'volume'): Omit<Setback, 'failures' | 'atMs'> {
    if (!(error instanceof ImageError)) return { kind: otherwise, message: messageOf(error) };
    // A container's image cannot come: images of the store are for volumes only.
    const isMissing = otherwise === 'volume' && isApiError(error.cause, 'NotFound');
    return { kind: 'image', image: error.image, message: error.message, isMissing };
  }

  #recordSetback(pod: Pod, { kind, image, message }: Setback): void {
    const reason = kind === 'volume' ? 'FailedMount' : 'Failed';
    const text = kind === 'image' ? `Failed to pull image "${image}": ${message}` : message;
    this.#context.events.record(pod, { type: 'Warning', reason, message: text });
  }

  async #sweep(): Promise<void> {
    for (let tries = 0; tries < SWEEP_TRIES; tries++) {
      const left = findProcesses(this.dir);
      if (left.length === 0) return;
      for (const process of left) signalProcess(process, 'SIGKILL');
      await this.#context.clock.sleep(SWEEP_PAUSE_MS);
    }
    throw new Error(`processes of Pod ${this.uid} do not end`);
  }
}

function specOf(pod: Pod, name: string): Container | undefined {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((container) => container.name === name);
}
