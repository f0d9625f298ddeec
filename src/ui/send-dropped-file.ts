/** Sends a file that somebody dropped into the page, through the API, as virtctl does. Loaded with the first of them. */
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { systemClock } from '../base/clock.ts';
import { Sha256 } from '../base/sha256.ts';
import type { Client } from '../client/client.ts';
import { type RunningDigest, type SendProgress, sendDisk } from '../sdk/upload/send-disk.ts';
import { dataVolumeFor } from '../sdk/upload/upload-objects.ts';
import { untilTaken } from '../sdk/upload/upload-target.ts';

export type DroppedFile = {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** Of the DataVolume that is made; undefined when it is there. */
  readonly size: string | undefined;
  readonly file: File;
  readonly signal: AbortSignal;
  readonly onMade: () => void;
  readonly onProgress: (progress: SendProgress) => void;
};

/** Between two of these the page can draw and hear clicks. */
const HASHED_AT_ONCE = 2 ** 20;

/** Resolves when the DataVolume has the disk. */
export async function sendDroppedFile({ client, namespace, name, size, file, signal, onMade, onProgress }: DroppedFile): Promise<void> {
  if (size !== undefined) await client.create(DATA_VOLUMES, dataVolumeFor({ namespace, name, size, isBoundAtOnce: true }), { signal });
  onMade();
  await untilTaken({ client, clock: systemClock, signal, namespace, name });
  const read = async (from: number, length: number) => new Uint8Array(await file.slice(from, from + length).arrayBuffer());
  const disk = { label: file.name, sizeBytes: file.size, read };
  await sendDisk({ client, clock: systemClock, namespace, name, disk, newDigest, signal, onProgress });
}

function newDigest(): RunningDigest {
  const hash = new Sha256();
  return {
    async update(bytes) {
      for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
        hash.update(bytes.subarray(at, at + HASHED_AT_ONCE));
        await new Promise((resolve) => setTimeout(resolve));
      }
    },
    hex: () => hash.hex(),
  };
}
