/**
 * What an earlier kubelet left of a Pod's containers.
 *
 *   state.json                            process                what the container is now
 *   names a process                       runs, is the same      running: adopted, untouched
 *                                         gone, or another one   ended, as its runtime wrote down, else exit code unknown (137)
 *   written before a process was made     found by its variables running: adopted
 *                                         not found              as if it had not been tried
 *   says how it ended                                            ended
 *   not there, API says it runs                                  ended, exit code unknown: never a second process
 *   not there, API says how it ended                             ended
 */
import { constants } from 'node:os';
import type { ContainerStatus, Pod } from '../../api/core/pod.ts';
import { findCgroups } from '../../base/node/cgroups.ts';
import { wasOutOfMemory } from '../../base/node/container-cgroups.ts';
import { isSameProcess, signalProcess } from '../../base/node/process-identity.ts';
import { afterEnd, type ContainerRecord, type Ended } from './container-record.ts';
import { bundleDir, readExitCode } from './containers/bundle.ts';
import { listContainers } from './pod-folder.ts';
import { findProcesses } from './start-container.ts';
import { loadContainer, type SavedContainer, saveContainer } from './state-file.ts';

type LoadOptions = { readonly dir: string; readonly pod: Pod | undefined; readonly now: number };

/** Those that were put beside the others since, as if nothing had been tried yet. */
export function newEphemeral({ spec }: Pod, known: ReadonlyMap<string, unknown>): ContainerRecord[] {
  const added = (spec.ephemeralContainers ?? []).filter(({ name }) => !known.has(name));
  return added.map(({ name }) => ({ name, isInit: false, isEphemeral: true, restartCount: 0, crashes: 0, run: { is: 'waiting' } }));
}

/** In the order of the spec, init containers first; without a Pod, in any order. */
export function loadContainers(options: LoadOptions): ContainerRecord[] {
  const { pod, dir } = options;
  if (!pod) return listContainers(dir).map((name) => loadOne({ ...options, name, isInit: false, status: undefined }));
  const one =
    (isInit: boolean, statuses: readonly ContainerStatus[] = []) =>
    ({ name }: { readonly name: string }) =>
      loadOne({ ...options, name, isInit, status: statuses.find((status) => status.name === name) });
  return [
    ...(pod.spec.initContainers ?? []).map(one(true, pod.status?.initContainerStatuses)),
    ...pod.spec.containers.map(one(false, pod.status?.containerStatuses)),
    ...(pod.spec.ephemeralContainers ?? [])
      .map(one(false, pod.status?.ephemeralContainerStatuses))
      .map((each): ContainerRecord => ({ ...each, isEphemeral: true })),
  ];
}

type OneOptions = LoadOptions & { readonly name: string; readonly isInit: boolean; readonly status: ContainerStatus | undefined };

function loadOne(options: OneOptions): ContainerRecord {
  const { dir, name, isInit, status, now } = options;
  const saved = loadContainer(dir, name, isInit);
  return saved ? takeOver(saved, options) : fromStatus({ name, isInit, status, now });
}

function takeOver({ container, isStarting }: SavedContainer, { dir, now }: OneOptions): ContainerRecord {
  const { run, name } = container;
  if (isStarting) {
    const [first] = findProcesses(dir, name).sort((a, b) => Number(a.startTime) - Number(b.startTime));
    if (!first) return container;
    const adopted: ContainerRecord = { ...container, run: { is: 'running', process: first, startedAtMs: now } };
    saveContainer(dir, adopted);
    return adopted;
  }
  if (run.is !== 'running' || isSameProcess(run.process)) return container;
  for (const left of findProcesses(dir, name)) signalProcess(left, 'SIGKILL');
  const how = endOfAdopted(readExitCode(bundleDir(dir, name)), isOutOfMemory(dir, name));
  const ended = afterEnd(container, { ...how, startedAtMs: run.startedAtMs, finishedAtMs: now });
  saveContainer(dir, ended);
  return ended;
}

function fromStatus({ name, isInit, status, now }: Pick<OneOptions, 'name' | 'isInit' | 'status' | 'now'>): ContainerRecord {
  const fresh: ContainerRecord = { name, isInit, restartCount: status?.restartCount ?? 0, crashes: 0, run: { is: 'waiting' } };
  const { running, terminated } = status?.state ?? {};
  if (running) return afterEnd(fresh, unknownEnd(now, Date.parse(running.startedAt)));
  if (!terminated) return fresh;
  const { exitCode, signal, reason, message, startedAt, finishedAt } = terminated;
  const ended: Ended = {
    exitCode,
    signal,
    reason,
    message,
    ...(startedAt && { startedAtMs: Date.parse(startedAt) }),
    finishedAtMs: finishedAt ? Date.parse(finishedAt) : now,
  };
  return { ...fresh, run: { is: 'ended', ...ended } };
}

/** How a run ended that we did not see the end of: by what its runtime wrote down, if it did. */
export function endOfAdopted(exitCode: number | undefined, isOutOfMemory = false): Omit<Ended, 'finishedAtMs'> {
  if (exitCode !== undefined) return { exitCode, reason: reasonOf(exitCode, isOutOfMemory) };
  const message = 'The container ended while nobody could see its exit code';
  return { exitCode: 137, reason: 'ContainerStatusUnknown', message };
}

/** How a run ended whose process was our child. */
export function endOfProcess(code: number | null, signal: NodeJS.Signals | null, isOutOfMemory = false): Omit<Ended, 'finishedAtMs'> {
  const number = signal ? constants.signals[signal] : undefined;
  const exitCode = code ?? 128 + (number ?? 0);
  return { exitCode, ...(number && { signal: number }), reason: reasonOf(exitCode, isOutOfMemory) };
}

function isOutOfMemory(podDir: string, container: string): boolean {
  const cgroups = findCgroups();
  return !('why' in cgroups) && wasOutOfMemory(cgroups, { podDir, container });
}

function reasonOf(exitCode: number, isOutOfMemory: boolean): string {
  if (exitCode === 0) return 'Completed';
  return isOutOfMemory ? 'OOMKilled' : 'Error';
}

function unknownEnd(now: number, startedAtMs: number): Ended {
  return { ...endOfAdopted(undefined), startedAtMs, finishedAtMs: now };
}
