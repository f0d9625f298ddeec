/**
 * The last hours of one machine, in as much memory as they need and no more: a record for each step, at a place that follows from its time, so that a new
 * one takes the place of one that is too old. The file has the same bytes.
 *
 *   u32      time of the step, in seconds; 0 for none
 *   f32 × 7  the fields of api/handler/usage-history.ts in their order; NaN for what was not known
 */
import {
  HISTORY_FIELDS,
  HISTORY_SECONDS,
  HISTORY_STEPS,
  type HistoryPoint,
  MEASURED_EVERY_SECONDS,
} from '../../api/handler/usage-history.ts';

const RECORD_BYTES = 4 + 4 * HISTORY_FIELDS.length;
export const RING_BYTES = RECORD_BYTES * HISTORY_STEPS;

export type RingRecord = { readonly offset: number; readonly bytes: Buffer };

export class HistoryRing {
  readonly bytes: Buffer;

  /** Goes on with what a file had; with what has another size nothing can be begun. */
  constructor(kept?: Buffer) {
    this.bytes = kept?.length === RING_BYTES ? kept : Buffer.alloc(RING_BYTES);
  }

  /** Remembers a point, and returns what has changed. */
  add(point: HistoryPoint): RingRecord {
    const offset = offsetOf(point.atSeconds);
    this.bytes.writeUInt32LE(point.atSeconds, offset);
    HISTORY_FIELDS.forEach((field, index) => {
      this.bytes.writeFloatLE(point[field] ?? Number.NaN, offset + 4 + 4 * index);
    });
    return { offset, bytes: this.bytes.subarray(offset, offset + RECORD_BYTES) };
  }

  /** In the order of time. What is not of the last hours, or cannot be, is left out: a file is only a file, and clocks are set. */
  points(nowSeconds: number, seconds = HISTORY_SECONDS): HistoryPoint[] {
    const since = nowSeconds - Math.min(seconds, HISTORY_SECONDS);
    const found: HistoryPoint[] = [];
    for (let offset = 0; offset < RING_BYTES; offset += RECORD_BYTES) {
      const atSeconds = this.bytes.readUInt32LE(offset);
      if (atSeconds <= since || atSeconds > nowSeconds || offsetOf(atSeconds) !== offset) continue;
      found.push(this.#pointAt(offset, atSeconds));
    }
    return found.sort((a, b) => a.atSeconds - b.atSeconds);
  }

  #pointAt(offset: number, atSeconds: number): HistoryPoint {
    const values = HISTORY_FIELDS.flatMap((field, index) => {
      const value = this.bytes.readFloatLE(offset + 4 + 4 * index);
      return Number.isFinite(value) && value >= 0 ? [[field, value] as const] : [];
    });
    return { atSeconds, ...Object.fromEntries(values) };
  }
}

function offsetOf(atSeconds: number): number {
  return (Math.floor(atSeconds / MEASURED_EVERY_SECONDS) % HISTORY_STEPS) * RECORD_BYTES;
}
