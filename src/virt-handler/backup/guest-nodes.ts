/** What QMP tells of the disks of a guest, as far as backups go: their sizes, and which checkpoints they know. And what we call things there. */
import { isObject } from '../../base/json.ts';
import type { QmpClient } from '../../qemu/qmp/client.ts';

export type Qmp = Pick<QmpClient, 'execute'>;
export type GuestNode = {
  readonly bytes: number;
  /** How much of it takes room. */
  readonly usedBytes: number;
  /** How much has changed since each checkpoint; one that cannot be relied on is not here. */
  readonly changedBytes: ReadonlyMap<string, number>;
  /** All of ours, whether they can be relied on or not. */
  readonly checkpoints: readonly string[];
};

const CHECKPOINT = 'checkpoint:';

/** What remembers the blocks that have changed since a checkpoint. */
export function bitmapOf(checkpoint: string): string {
  return `${CHECKPOINT}${checkpoint}`;
}

/** For one disk: the filter that keeps what the guest overwrites, the disk as it was, the file it goes to, and the job. Node names end at 31 characters. */
export function backupNames(node: string): {
  readonly filter: string;
  readonly past: string;
  readonly target: string;
  readonly job: string;
} {
  return { filter: `${FILTER}${node}`, past: `${PAST}${node}`, target: `${TARGET}${node}`, job: `${JOB}${node}` };
}

export const FILTER = 'bk-cbw-';
export const PAST = 'bk-was-';
export const TARGET = 'bk-to-';
export const JOB = 'bk-job-';

/** By name; changes nothing. */
export async function askNodes(qmp: Qmp): Promise<ReadonlyMap<string, GuestNode>> {
  const answer = await qmp.execute('query-named-block-nodes', { flat: true });
  return new Map(Array.isArray(answer) ? answer.flatMap(nodeIn) : []);
}

function nodeIn(said: unknown): [string, GuestNode][] {
  if (!isObject(said)) return [];
  const image = isObject(said['image']) ? said['image'] : {};
  const bytes = Number(image['virtual-size'] ?? 0);
  const used = Number(image['actual-size'] ?? bytes);
  const bitmaps = (Array.isArray(said['dirty-bitmaps']) ? said['dirty-bitmaps'] : []).filter(isOurs);
  return [
    [
      String(said['node-name']),
      {
        bytes,
        usedBytes: Math.min(bytes, used),
        changedBytes: new Map(bitmaps.filter(isReliable).map((each) => [checkpointIn(each), Number(each['count'] ?? 0)])),
        checkpoints: bitmaps.map(checkpointIn),
      },
    ],
  ];
}

function isOurs(bitmap: unknown): bitmap is Readonly<Record<string, unknown>> {
  return isObject(bitmap) && String(bitmap['name']).startsWith(CHECKPOINT);
}

/** It has recorded without a gap. */
function isReliable({ recording, inconsistent }: Readonly<Record<string, unknown>>): boolean {
  return recording === true && inconsistent !== true;
}

function checkpointIn({ name }: Readonly<Record<string, unknown>>): string {
  return String(name).slice(CHECKPOINT.length);
}
