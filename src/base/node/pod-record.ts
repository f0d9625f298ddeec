/** pod.json in the folder of an embedded Pod: whose folder this is, and what must be known of it when the store does not know the Pod any more. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../json.ts';
import { writeFileDurably, writeFileDurablySync } from './durable-file.ts';

/** The user and groups that the processes of a Pod have on the host. */
export type PodUser = {
  readonly uid: number;
  readonly gid: number;
  /** Those of its claims. */
  readonly groups: readonly number[];
  /** The machine, or the Pod, whose user it is for life. */
  readonly of: string;
  /** It is the root of containers, which have more users than this one. */
  readonly isRootInside?: boolean;
};

export type PodRecord = {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The address that it holds for life. */
  readonly podIP: string;
  /** Left out when its processes are what its spec asks for. */
  readonly user?: PodUser;
  /** Under which history of the store it was last seen; another one cannot have deleted it. */
  readonly clusterId?: string;
  /** Kind and name of its controller, for people. */
  readonly owner?: string;
  readonly graceSeconds?: number;
  /** The cluster that was told to leave it running though it does not know it. */
  readonly adoptedBy?: string;
};

/** Undefined when it is not there or was never finished. */
export function readPodRecord(dir: string): PodRecord | undefined {
  try {
    const json: unknown = JSON.parse(readFileSync(recordPath(dir), 'utf8'));
    const isComplete = isObject(json) && ['uid', 'namespace', 'name', 'podIP'].every((field) => typeof json[field] === 'string');
    return isComplete ? (json as PodRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** On disk when it resolves. */
export function writePodRecord(dir: string, record: PodRecord): Promise<void> {
  return writeFileDurably(recordPath(dir), JSON.stringify(record));
}

/** Changes some fields of a record that is there, before anything else happens. */
export function updatePodRecord(dir: string, change: Partial<PodRecord>): void {
  const record = readPodRecord(dir);
  if (record) writeFileDurablySync(recordPath(dir), JSON.stringify({ ...record, ...change }));
}

function recordPath(dir: string): string {
  return join(dir, 'pod.json');
}
