/** pods/log: the output of one run of a container, as bytes. */
import { type FileHandle, open } from 'node:fs/promises';
import type { Pod } from '../../api/core/pod.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { containerLogPath } from './log-files.ts';
import { LineStamper, noteLogTime, readLogTimes, startOfTime } from './log-times.ts';

export type PodLogOptions = {
  /** May be left out when the Pod has one container only. */
  readonly container?: string;
  readonly follow?: boolean;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** Of the run before this one. */
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly signal?: AbortSignal;
};

/** What the kubelet knows about the container whose output is wanted. */
export type LoggedContainer = { readonly restartCount: number; readonly hasRun: boolean; readonly isRunning: boolean };

const CHUNK_BYTES = 64 * 1024;
const FOLLOW_MS = 200;

/** Opens the log and streams it; `look` tells what the container does now, so that following ends with its run. */
export async function streamLog(options: {
  readonly pod: Pod;
  readonly dir: string;
  readonly name: string;
  readonly request: PodLogOptions;
  readonly look: () => LoggedContainer | undefined;
  readonly clock: Clock;
}): Promise<ReadableStream<Uint8Array>> {
  const { pod, dir, name, request, look, clock } = options;
  const container = look();
  if (!container?.hasRun) {
    const waiting =
      [...(pod.status?.containerStatuses ?? []), ...(pod.status?.ephemeralContainerStatuses ?? [])].find((status) => status.name === name)
        ?.state?.waiting?.reason ?? 'ContainerCreating';
    throw new ApiError('BadRequest', `container "${name}" in pod "${pod.metadata.name}" is waiting to start: ${waiting}`);
  }
  const run = container.restartCount - (request.previous ? 1 : 0);
  const log = containerLogPath(dir, name, run);
  const file = await open(log, 'r').catch(() => undefined);
  if (!file) {
    const which = request.previous ? `previous terminated container "${name}"` : `log of container "${name}"`;
    throw new ApiError('BadRequest', `${which} in pod "${pod.metadata.name}" not found`);
  }
  const isOver = () => {
    const now = look();
    return !request.follow || !now?.isRunning || now.restartCount !== run;
  };
  return toStream(read({ file, log, request, isOver, clock }));
}

type ReadOptions = {
  readonly file: FileHandle;
  readonly log: string;
  readonly request: PodLogOptions;
  readonly isOver: () => boolean;
  readonly clock: Clock;
};

async function* read({ file, log, request, isOver, clock }: ReadOptions): AsyncGenerator<Uint8Array> {
  const { tailLines, limitBytes = Number.POSITIVE_INFINITY, signal } = request;
  let left = limitBytes;
  try {
    const sinceMs = sinceMsOf(request, clock.now());
    noteLogTime(log, clock.now());
    const since = sinceMs === undefined ? 0 : await startOfTime(log, readLogTimes(log), sinceMs);
    let position = Math.max(since, tailLines === undefined ? 0 : await startOfTail(file, tailLines));
    const stamper = request.timestamps ? new LineStamper(() => readLogTimes(log), clock.now) : undefined;
    while (left > 0 && !signal?.aborted) {
      const wasOver = isOver(); // asked before reading: what was written until then is read below
      const { size } = await file.stat();
      if (size < position) position = 0; // it was cut
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(CHUNK_BYTES, left)), 0, undefined, position);
      if (bytesRead > 0) {
        const chunk = buffer.subarray(0, bytesRead);
        yield stamper ? stamper.stamp(chunk, position) : chunk;
        position += bytesRead;
        left -= bytesRead;
      } else if (wasOver) return;
      else await clock.sleep(FOLLOW_MS, signal);
    }
  } finally {
    await file.close();
  }
}

/** BadRequest for a time that is none, or for both. */
export function sinceMsOf({ sinceSeconds, sinceTime }: PodLogOptions, now: number): number | undefined {
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    throw new ApiError('BadRequest', 'at most one of `sinceTime` or `sinceSeconds` may be specified');
  if (sinceSeconds !== undefined) return now - sinceSeconds * 1000;
  if (sinceTime === undefined) return undefined;
  const time = Date.parse(sinceTime);
  if (Number.isNaN(time)) throw new ApiError('BadRequest', `sinceTime ${JSON.stringify(sinceTime.slice(0, 60))} is not a time`);
  return time;
}

/** Where the last so many lines begin, found from the end in pieces: a log may be larger than memory. */
async function startOfTail(file: FileHandle, lines: number): Promise<number> {
  const { size } = await file.stat();
  let newlines = 0;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    for (let i = bytesRead - 1; i >= 0; i--) {
      const isLast = start + i === size - 1; // ends the last line, begins none
      if (buffer[i] === 0x0a && !isLast && ++newlines === lines) return start + i + 1;
    }
    end = start;
  }
  return lines === 0 ? size : 0;
}

function toStream(source: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await source.return(undefined);
    },
  });
}
