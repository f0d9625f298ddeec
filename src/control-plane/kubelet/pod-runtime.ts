/** One Pod on this node for as long as it is here: its containers, its volumes, and the few things that can be done to them. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { type Container, containerIn, type Pod } from '../../api/core/pod.ts';
import { isDeleting, keyOf } from '../../api/meta.ts';
import { ApiError, isApiError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { updatePodRecord } from '../../base/node/pod-record.ts';
import { isSameProcess, type ProcessIdentity, signalProcess } from '../../base/node/process-identity.ts';
import { ImageError, imageBringer } from './bring-image.ts';
import { assertMayUse, builtInImageOf, findBuiltIn } from './built-in-images.ts';
import { afterEnd, beforeStart, type ContainerRecord, type Ended, eventsOf, setBackAgain } from './container-record.ts';
import { NativePod } from './containers/native-pod.ts';
import { type ContainersAction, graceSecondsOf } from './decide-containers.ts';
import { oomScoreOf } from './default-qos-class.ts';
import { Hooks } from './hooks.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { endOfAdopted, endOfProcess, loadContainers, newEphemeral } from './load-containers.ts';
import { lastWords, lookAfterLog, removeOldLogs } from './log-files.ts';
import type { ObservedPod } from './observed.ts';
import { createPodFolder, podDir, readPodIdentity, removePodFolder } from './pod-folder.ts';
import { podRecordOf } from './pod-record-of.ts';
import { Probes, type ProbesOptions } from './probes.ts';
import { setbackFrom } from './setback-from.ts';
import { hasImageOrStandIn, standInRecorder } from './stand-ins.ts';
import { endProcesses, findProcesses, type Launch, launch, makeContainerFolders, planLaunch, setOomScore } from './start-container.ts';
import { saveContainer } from './state-file.ts';
import { ownerOfPod, userForPod } from './user-of-pod.ts';
import { prepareVolumes } from './volumes.ts';

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
  /** Ephemeral containers whose image is on the way. */
  readonly #preparing = new Set<string>();
  readonly #probes: Probes;
  readonly native: NativePod;
  readonly #hooks: Hooks;
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
    this.native = new NativePod({ context, dir: this.dir });
    const programs: Pick<ProbesOptions, 'canExec' | 'runs' | 'exec'> = {
      canExec: (container) => this.native.isNative(container),
      runs: (name) => this.native.runs(name),
      exec: (container, command, signal) => this.native.ask(container.name, command, signal),
    };
    this.#probes = new Probes({
      clock: context.clock,
      signal: context.signal,
      ...programs,
      onVerdict: () => context.wake(uid),
      onFailure: (probed, kind, why) => {
        const message = `${kind[0]?.toUpperCase()}${kind.slice(1)} probe failed: ${why}`;
        context.events.record(probed, { type: 'Warning', reason: 'Unhealthy', message });
      },
    });
    this.#hooks = new Hooks({
      clock: context.clock,
      signal: context.signal,
      events: context.events,
      ...programs,
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
    const known = this.#containers;
    const containers = [...known.values(), ...(pod ? newEphemeral(pod, known) : [])].map((each) => ({
      ...each,
      ...this.#probes.of(pod, each),
      ...(this.#preparing.has(each.name) && { isPreparing: true }),
      ...(this.#hooks.isStarting(each.name) && { isReady: false, isStarted: false }),
    }));
    return { isForeign: this.#isForeign, containers, volumes: this.#volumesNow() };
  }

  /** What could not be brought because an image was missing can be tried at once when that has come. */
  #volumesNow(): ObservedPod['volumes'] {
    const wanted = typeof this.#volumes === 'object' && this.#volumes.isMissing ? this.#volumes.image : undefined;
    return wanted !== undefined && hasImageOrStandIn(this.#context.images, wanted) ? 'absent' : this.#volumes;
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

  /** Performs what was decided on its containers. What takes long only begins here, and wakes the Pod when it is done. */
  async act(action: ContainersAction, pod: Pod | undefined): Promise<void> {
    switch (action.do) {
      case 'prepare':
        if (pod) this.#prepare(pod);
        return;
      case 'start':
        if (pod) await this.#start(pod, action.container);
        return;
      case 'stop':
        if (pod) this.#stop(pod, action.container);
        return;
      case 'kill':
        this.#kill(action.container);
        return;
      case 'clean up':
        await this.#cleanUp();
        return;
    }
  }

  /** Begins to bring the volumes; ends in a wake-up, not in this call. */
  #prepare(pod: Pod): void {
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
          this.#volumes = setBackAgain(before, { ...setbackFrom(error, 'volume', this.#context.images), atMs: this.#context.clock.now() });
          for (const event of eventsOf(this.#volumes)) this.#context.events.record(pod, event);
        },
      )
      .finally(() => this.#context.wake(this.uid));
    this.#preparation = { stop, done };
  }

  async #bringVolumes(pod: Pod, signal: AbortSignal): Promise<void> {
    const { images, client, mayBecome, hostIP, clusterId, users, machineOf } = this.#context;
    const isNative = this.native.has(pod);
    if (isNative) this.native.assertPossible(pod);
    const user = isNative ? this.native.user() : await userForPod({ pod, dir: this.dir, client, users, machineOf });
    const podIP = this.podIP(pod);
    await createPodFolder(this.dir, podRecordOf(pod, { uid: this.uid, podIP, user, clusterId }));
    const fields = { pod, podIP, hostIP };
    const dirOwner = ownerOfPod(this.dir, pod, mayBecome);
    const bringImage = imageBringer({ pod, context: this.#context, signal });
    const volumes = await prepareVolumes({
      pod,
      dir: this.dir,
      fields,
      images,
      bringImage,
      onStandIn: standInRecorder(this.#context.events, pod),
      client,
      owner: dirOwner,
      users,
      isBound: (container) => this.native.isNative(container),
      signal,
    });
    if (isNative) await this.native.prepare(pod, podIP, { volumes, bringImage, signal });
  }

  /** Starts the next run of a container; what is wrong with its spec or image is remembered, not thrown. */
  async #start(pod: Pod, name: string): Promise<void> {
    const added = newEphemeral(pod, this.#containers).find((each) => each.name === name);
    if (added) this.#containers.set(name, added);
    const before = this.#get(name);
    if (before.isEphemeral && !this.native.hasImage(name)) return this.#bringImage(pod, before);
    const next: ContainerRecord = { ...beforeStart(before), setback: undefined };
    let plan: Launch;
    try {
      await assertMayUse(this.#context, pod, name);
      await makeContainerFolders(this.dir, name);
      plan = await this.#plan(pod, next);
    } catch (error) {
      this.#setBack(pod, before, error);
      return;
    }
    await removeOldLogs(this.dir, name, next.restartCount);
    await this.#launch(pod, next, plan);
  }

  #setBack(pod: Pod, before: ContainerRecord, error: unknown): void {
    const { images, clock, events } = this.#context;
    const setback = setBackAgain(before.setback, { ...setbackFrom(error, 'config', images), atMs: clock.now() });
    this.#containers.set(before.name, { ...before, setback });
    for (const event of eventsOf(setback)) events.record(pod, event);
  }

  /** Of an ephemeral container, which the others do not wait for; ends in a wake-up, not in this call. */
  #bringImage(pod: Pod, container: ContainerRecord): void {
    const { name } = container;
    const { signal } = this.#context;
    this.#preparing.add(name);
    void this.native
      .bringEphemeral(pod, name, { bringImage: imageBringer({ pod, context: this.#context, signal }), signal })
      .catch((error: unknown) => {
        if (!signal.aborted) this.#setBack(pod, container, error);
      })
      .finally(() => {
        this.#preparing.delete(name);
        this.#context.wake(this.uid);
      });
  }

  /** Asks a container to end. Asking twice does no harm, so it is written down afterwards. */
  #stop(pod: Pod, name: string): void {
    const container = this.#get(name);
    if (container.run.is !== 'running') return;
    const spec = containerIn(pod, name);
    if (spec && this.#hooks.hasPreStop(spec)) void this.#stopAfterHook(pod, spec, container);
    else this.#signalStop(pod, container);
    this.#keep({ ...container, run: { ...container.run, stopSentAtMs: this.#context.clock.now() } });
    this.#context.events.record(pod, { type: 'Normal', reason: 'Killing', message: `Stopping container ${name}` });
  }

  /** The grace period runs meanwhile; when it is over the container is killed, whatever the hook does. */
  async #stopAfterHook(pod: Pod, container: Container, { name, restartCount }: ContainerRecord): Promise<void> {
    await this.#hooks.beforeStop({ pod, container, podIP: this.podIP(pod) }, graceSecondsOf(pod));
    const now = this.#containers.get(name);
    if (now?.restartCount === restartCount && !this.#context.signal.aborted) this.#signalStop(pod, now);
  }

  #signalStop(pod: Pod, { name, run }: ContainerRecord): void {
    if (run.is !== 'running') return;
    const builtIn = findBuiltIn(this.#context.builtInImages, containerIn(pod, name)?.image ?? '');
    if (builtIn) signalProcess(run.process, builtIn.stopSignal ?? 'SIGTERM');
    else this.native.signal(name, this.native.stopSignal(name));
  }

  /** Ends a container and everything it has started in its session. */
  #kill(name: string): void {
    const { run } = this.#get(name);
    if (run.is === 'running' && !this.native.signal(name, 'SIGKILL')) signalProcess(run.process, 'SIGKILL', 'group');
  }

  /** Removes every trace: processes that got away from their container, the folder, the address. */
  async #cleanUp(): Promise<void> {
    this.#preparation?.stop.abort(new Error('the Pod is gone'));
    await this.#preparation?.done;
    if (existsSync(this.dir)) {
      this.native.close();
      await endProcesses(this.dir, this.#context.clock);
      for (const name of this.#containers.keys()) await this.native.removeCgroup(name);
      await removePodFolder(this.dir);
    }
    this.#context.addresses.release(this.uid);
    this.#context.users?.release(this.uid);
    this.isCleanedUp = true;
  }

  /** What nobody tells us and has to be looked at now and then. */
  lookAround(pod: Pod | undefined): void {
    if (pod && !isDeleting(pod)) this.#probes.lookAround(pod, this.#containers.values(), this.podIP(pod));
    if (pod) this.native.lookAround(this.podIP(pod));
    this.#save();
    this.#checkAdopted();
    for (const each of this.#containers.values()) if (each.run.is === 'running') lookAfterLog(this.dir, each, this.#context.clock.now());
  }

  /** Notices adopted containers that have ended; they are nobody's children, so this is the only way. */
  #checkAdopted(): void {
    for (const container of this.#containers.values()) {
      const { name, run } = container;
      if (run.is !== 'running' || this.#own.has(name) || isSameProcess(run.process)) continue;
      for (const left of findProcesses(this.dir, name)) signalProcess(left, 'SIGKILL');
      this.native.signal(name, 'SIGKILL');
      this.#end(name, endOfAdopted(this.native.exitCode(name), this.native.wasOutOfMemory(name)));
    }
  }

  async #plan(pod: Pod, { name, restartCount }: ContainerRecord): Promise<Launch> {
    const { builtInImages, hostIP, apiServerUrl, mayBecome } = this.#context;
    const container = containerIn(pod, name);
    if (!container) throw new ApiError('Invalid', `the Pod has no container "${name}"`);
    if (this.native.isNative(container)) return this.native.plan(pod, container, { restartCount, podIP: this.podIP(pod) });
    const reference = container.image ?? '';
    try {
      const image = builtInImageOf(builtInImages, reference);
      const user = readPodIdentity(this.dir)?.user;
      const podIP = this.podIP(pod);
      return planLaunch({ pod, container, image, dir: this.dir, restartCount, podIP, hostIP, apiServerUrl, mayBecome, user });
    } catch (error) {
      if (isApiError(error, 'NotFound')) throw new ImageError(reference, error.message, { cause: error });
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
      void this.#afterStart(pod, next);
    } catch (error) {
      this.#end(next.name, { exitCode: 128, reason: 'StartError', message: messageOf(error) });
      events.record(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${messageOf(error)}` });
    }
  }

  async #afterStart(pod: Pod, { name, restartCount }: ContainerRecord): Promise<void> {
    const container = containerIn(pod, name);
    if (!container?.lifecycle?.postStart) return;
    const isFine = await this.#hooks.afterStart({ pod, container, podIP: this.podIP(pod) });
    const now = this.#containers.get(name);
    if (!isFine && now?.restartCount === restartCount && now.run.is === 'running') this.#kill(name);
    this.#context.wake(this.uid);
  }

  #onExit({ name, restartCount }: ContainerRecord, pod: Pod, { identity, code, signal }: Exit): void {
    if (this.#context.signal.aborted) return; // a later kubelet may look after it now
    try {
      process.kill(-identity.pid, 'SIGKILL'); // what it started ends with it, as it would with a container
    } catch {
      // nothing was left
    }
    this.native.signal(name, 'SIGKILL'); // of a container whose runtime was killed
    const isLogTheMessage = containerIn(pod, name)?.terminationMessagePolicy === 'FallbackToLogsOnError';
    const how = endOfProcess(code, signal, this.native.wasOutOfMemory(name));
    const message = isLogTheMessage && how.exitCode !== 0 ? lastWords(this.dir, name, restartCount) : undefined;
    this.#end(name, { ...how, ...(message !== undefined && { message }) });
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
}
