/**
 * store.json beside the store: which history the data folder lives in and how far it had come. A store that knows less has lost something,
 * however whole its file looks: a log that was cut off ends earlier, a store from elsewhere has another id.
 */
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isObject } from '../json.ts';
import { writeFileDurably, writeFileDurablySync } from './durable-file.ts';
import { readIfThereSync } from './read-if-there.ts';

export type Watermark = { readonly clusterId: string; readonly revision: number };

/** The file for the store at `storePath`. */
function watermarkPath(storePath: string): string {
  return join(dirname(storePath), 'store.json');
}

/** Undefined when there is none, or when it is not what was written: then the store has to be believed. */
export function readWatermark(storePath: string): Watermark | undefined {
  try {
    const json: unknown = JSON.parse(readIfThereSync(watermarkPath(storePath)) ?? 'null');
    if (!isObject(json)) return undefined;
    const { clusterId, revision, checksum } = json;
    if (typeof clusterId !== 'string' || typeof revision !== 'number') return undefined;
    return checksum === checksumOf({ clusterId, revision }) ? { clusterId, revision } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Only ever called with what is committed: it must never be ahead of the store. */
export function writeWatermark(storePath: string, watermark: Watermark): Promise<void> {
  return writeFileDurably(watermarkPath(storePath), textOf(watermark));
}

/** The same before anything else happens. */
export function writeWatermarkSync(storePath: string, watermark: Watermark): void {
  writeFileDurablySync(watermarkPath(storePath), textOf(watermark));
}

function textOf({ clusterId, revision }: Watermark): string {
  return `${JSON.stringify({ clusterId, revision, checksum: checksumOf({ clusterId, revision }) })}\n`;
}

function checksumOf({ clusterId, revision }: Watermark): number {
  return crc32(`${clusterId}\n${revision}`);
}
