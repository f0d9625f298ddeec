/**
 * state.json: what must be known about a container by a kubelet that did not start it. It is written before a process
 * is made (`isStarting`), again as soon as its identity is known, and when it has ended.
 */
import { join } from 'node:path';
import { isObject } from '../../base/json.ts';
import { writeFileDurablySync } from '../../base/node/durable-file.ts';
import type { ProcessIdentity } from '../../base/node/process-identity.ts';
import { readIfThereSync } from '../../base/node/read-if-there.ts';
import type { ContainerRecord, Ended, Run } from './container-record.ts';
import { containerDir } from './pod-folder.ts';

type StateFile = Partial<ProcessIdentity> & {
  readonly restartCount: number;
  readonly crashes: number;
  readonly isInit?: boolean;
  readonly isStarting?: boolean;
  readonly startedAt?: number;
  readonly stopSentAt?: number;
  readonly ended?: Ended;
  readonly last?: Ended;
};

export type SavedContainer = { readonly container: ContainerRecord; readonly isStarting: boolean };

/** Writes the container down; durable when it returns. */
export function saveContainer(dir: string, container: ContainerRecord, isStarting = false): void {
  const { name, run, restartCount, crashes, last, isInit } = container;
  const common = { restartCount, crashes, last, ...(isInit && { isInit }), ...(isStarting && { isStarting }) };
  writeFileDurablySync(join(containerDir(dir, name), 'state.json'), JSON.stringify({ ...runFields(run), ...common } satisfies StateFile));
}

/** Reads it back; undefined when there is nothing. Unreadable counts as "starting": somebody has to look for a process. */
export function loadContainer(dir: string, name: string, isInit: boolean): SavedContainer | undefined {
  const text = readIfThereSync(join(containerDir(dir, name), 'state.json'));
  if (text === undefined) return undefined;
  const fresh: ContainerRecord = { name, isInit, restartCount: 0, crashes: 0, run: { is: 'waiting' } };
  try {
    const file: unknown = JSON.parse(text);
    if (!isObject(file) || typeof file['restartCount'] !== 'number') throw new SyntaxError('not what was written');
    const { restartCount = 0, crashes = 0, last, isStarting = false } = file as Partial<StateFile>;
    return { container: { ...fresh, restartCount, crashes, run: runOf(file as StateFile), ...(last && { last }) }, isStarting };
  } catch {
    return { container: fresh, isStarting: true };
  }
}

function runFields(run: Run): Partial<StateFile> {
  switch (run.is) {
    case 'waiting':
      return {};
    case 'running':
      return { ...run.process, startedAt: run.startedAtMs, stopSentAt: run.stopSentAtMs };
    case 'ended': {
      const { is: _, ...ended } = run;
      return { ended };
    }
  }
}

function runOf({ pid, startTime, bootId, startedAt, stopSentAt, ended }: StateFile): Run {
  if (ended) return { is: 'ended', ...ended };
  if (pid === undefined || startTime === undefined || bootId === undefined) return { is: 'waiting' };
  return {
    is: 'running',
    process: { pid, startTime, bootId },
    startedAtMs: startedAt ?? 0,
    ...(stopSentAt && { stopSentAtMs: stopSentAt }),
  };
}
