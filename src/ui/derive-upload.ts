/** Disks that are sent from this browser: what is proposed for a file that was dropped, how far each is, and what goes on after an interruption. Pure. */

import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { formatBytes } from '../base/quantity.ts';
import type { SendProgress } from '../sdk/upload/send-disk.ts';
import { progressOf } from '../sdk/upload/transfer-progress.ts';
import { type ImageRow, nameOfAddress } from './derive-images.ts';
import { where } from './derive-where.ts';

export type UploadStage = 'beginning' | 'sending' | 'paused' | 'failed' | 'done';
export type Upload = {
  readonly namespace: string;
  readonly name: string;
  readonly fileName: string;
  readonly stage: UploadStage;
  /** Since it was begun or gone on with. */
  readonly startedAtMs: number;
  readonly progress: SendProgress | undefined;
  /** Why it does not go on. */
  readonly why: string | undefined;
};

export type UploadWish = { readonly namespace: string; readonly name: string; readonly size: string };

const MIB = 2 ** 20;
/** Of a file whose disk is larger than itself, and does not say by how much. */
const UNKNOWN_SIZE = '10Gi';
/** So much of a file says how large its disk is. */
export const HEAD_BYTES = 32;

/** What is proposed for a file: a name, and the size that its disk has. */
export function proposedUpload(namespace: string, file: { readonly name: string; readonly size: number }, head: Uint8Array): UploadWish {
  return { namespace, name: nameOfAddress(file.name) || 'disk', size: diskSizeOf(file, head) };
}

/** A qcow2 file says it, a raw one is it, of any other it is not known. Whole mebibytes, and never less than the file, which has to fit as well. */
function diskSizeOf({ name, size }: { readonly name: string; readonly size: number }, head: Uint8Array): string {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const isQcow2 = head.length >= HEAD_BYTES && view.getUint32(0) === 0x514649fb;
  if (!isQcow2 && /\.(gz|xz|zst|vmdk|vhdx?)$/i.test(name)) return UNKNOWN_SIZE;
  const diskBytes = isQcow2 ? Number(view.getBigUint64(24)) : size;
  return formatBytes(Math.ceil(Math.max(size, diskBytes) / MIB) * MIB);
}

/** A DataVolume of this name that still waits for its file: then nothing is made, and what has arrived is not sent again. */
export function interruptedUpload(rows: readonly ImageRow[], { namespace, name }: Pick<UploadWish, 'namespace' | 'name'>): boolean {
  return rows.some((row) => row.namespace === namespace && row.name === name && awaitsFile(row));
}

/** It is one that a file is sent to, and that file is not there yet. */
export function awaitsFile({ kind, source, phase }: ImageRow): boolean {
  return kind === DATA_VOLUMES.kind && source === 'upload' && phase !== 'Succeeded' && phase !== 'Failed';
}

export function uploadCommand({ namespace, name, size }: UploadWish, fileName: string, isInterrupted: boolean): string {
  const quoted = /^[\w.+@%/-]+$/.test(fileName) ? fileName : `'${fileName.replaceAll("'", `'\\''`)}'`;
  const made = isInterrupted ? ' --no-create' : ` --size ${size} --force-bind`;
  return `virtctl image-upload dv ${name}${where(namespace)}${made} --image-path ${quoted}`;
}

/** `Sending: 41 % · 120 of 293 MiB · 12.3 MiB/s · 14 s left`. */
export function uploadWords({ stage, progress, startedAtMs, why }: Upload, nowMs: number): string {
  const all = progress && progress.doneBytes === progress.totalBytes;
  switch (stage) {
    case 'beginning':
      return 'Waiting until the disk can be sent';
    case 'sending':
      if (!progress) return 'Sending';
      return all ? 'All of it is there; the disk is being made' : `Sending: ${progressOf({ ...progress, elapsedMs: nowMs - startedAtMs })}`;
    case 'paused':
      return progress ? `Paused: ${progressOf(progress)}` : 'Paused';
    case 'failed':
      return why ?? 'Interrupted';
    case 'done':
      return 'Sent';
  }
}

/** From 0 to 1. */
export function uploadShare({ progress }: Pick<Upload, 'progress'>): number {
  return progress ? progress.doneBytes / progress.totalBytes : 0;
}

/** For the frame of every page: those that are on their way. */
export function uploadsInShort(uploads: readonly Upload[]): string | undefined {
  const going = uploads.filter(({ stage }) => stage === 'beginning' || stage === 'sending');
  const [first] = going;
  if (!first) return undefined;
  if (going.length > 1) return `${going.length} uploads`;
  return `Upload of ${first.name}: ${Math.floor(uploadShare(first) * 100)} %`;
}
