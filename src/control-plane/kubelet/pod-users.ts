/**
 * Which user each machine runs as. The number follows from the name of the machine and a key of this data folder, so that a machine has
 * the same one for as long as it lives, on whatever node, with whatever store, and nobody can choose a name that leads to the number of
 * another. Two that live at once never share one. The other half of the range are groups, one for each claim: a claim belongs to whoever
 * mounts it, not to the machine that happened to come first.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ApiError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { writeFileDurablySync } from '../../base/node/durable-file.ts';
import type { PodUser } from '../../base/node/pod-record.ts';
import type { IdRange } from '../../base/node/pod-user-range.ts';

/** Of more there is no need: they are looked at one after the other when a number is taken. */
const MOST_TRIES = 10_000;

export class PodUsers {
  readonly #range: IdRange;
  readonly #key: string;
  readonly #holders = new Map<number, { readonly of: string; readonly pods: Set<string> }>();
  readonly #byPod = new Map<string, number>();

  constructor(range: IdRange, key: string) {
    this.#range = range;
    this.#key = key;
  }

  /** The user of a machine, or of whatever else `of` names, which this Pod holds until it is released. */
  take(podUid: string, of: string): number {
    const own = this.#byPod.get(podUid);
    if (own !== undefined) return own;
    const count = this.#half();
    const start = this.#hash(`user ${of}`) % count;
    for (let tries = 0; tries < Math.min(count, MOST_TRIES); tries++) {
      const uid = this.#range.first + ((start + tries) % count);
      const holder = this.#holders.get(uid);
      if (holder && holder.of !== of) continue;
      this.#hold(uid, podUid, of);
      return uid;
    }
    throw new ApiError('TooManyRequests', 'all users for Pods are in use');
  }

  /** A Pod that was started by an earlier kubelet keeps what it has. */
  keep(podUid: string, { uid, of }: PodUser): void {
    if (this.has(uid)) this.#hold(uid, podUid, of);
  }

  release(podUid: string): void {
    const uid = this.#byPod.get(podUid);
    if (uid === undefined) return;
    this.#byPod.delete(podUid);
    const holder = this.#holders.get(uid);
    holder?.pods.delete(podUid);
    if (holder?.pods.size === 0) this.#holders.delete(uid);
  }

  /** The group of those who mount a claim. */
  groupOf(claimUid: string): number {
    return this.#range.first + this.#half() + (this.#hash(`claim ${claimUid}`) % this.#half());
  }

  /** True for a user or group of ours. */
  has(id: number): boolean {
    return id >= this.#range.first && id < this.#range.first + this.#range.count;
  }

  #hold(uid: number, podUid: string, of: string): void {
    const holder = this.#holders.get(uid);
    if (holder) holder.pods.add(podUid);
    else this.#holders.set(uid, { of, pods: new Set([podUid]) });
    this.#byPod.set(podUid, uid);
  }

  #half(): number {
    return Math.floor(this.#range.count / 2);
  }

  #hash(text: string): number {
    return createHmac('sha256', this.#key).update(text).digest().readUIntBE(0, 6);
  }
}

/** The users of a data folder, whose key is kept in this file for as long as the folder lives. */
export function openPodUsers(path: string, range: IdRange): PodUsers {
  const kept = readKey(path);
  const key = kept ?? randomBytes(32).toString('hex');
  if (kept === undefined) writeFileDurablySync(path, JSON.stringify({ key }));
  return new PodUsers(range, key);
}

function readKey(path: string): string | undefined {
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isObject(json) && typeof json['key'] === 'string' && json['key'] !== '' ? json['key'] : undefined;
  } catch {
    return undefined; // none yet; claims get the group of a new key when they are mounted next
  }
}
