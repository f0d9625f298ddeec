/**
 * Work makes a heap that serving does not need: at the start manifests, schemas and certificates in all the shapes that they had on the way, later what a thousand
 * machines took that were started at once. V8 gives it back when it next has much to do, which a calm cluster never has. So it is collected when
 *
 *   the processor was hardly used for a while       a collection stops everything, for half a second with 3,000 machines
 *   and it was never done, or the heap has grown    one after the start, and none in a cluster that nobody uses
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../base/clock.ts';

/** At the start later than what starts by itself, sooner than anybody looks. */
export const LOOK_MS = 10_000;
const CALM_CPU_MS = 500;
/** More than a cluster that does little makes in its young generation, over and over. V8 collects by itself when the old one has grown by half. */
const GROWN_BYTES = 48 * 2 ** 20;

/** `heapBytes` is what the heap takes, used or not; `collectedBytes` what the last collection left of it. */
export type MemorySeen = { readonly cpuMs: number; readonly heapBytes: number; readonly collectedBytes: number };

/** Whether to collect now. Pure. */
export function isWorthCollecting({ cpuMs, heapBytes, collectedBytes }: MemorySeen): boolean {
  return cpuMs < CALM_CPU_MS && (collectedBytes === 0 || heapBytes > collectedBytes + GROWN_BYTES);
}

/** Collects a while after the start, and after each time of much work; ends with the signal. */
export async function runMemoryRelease({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
  const collect = collector();
  let collectedBytes = 0;
  let before = process.cpuUsage();
  for (;;) {
    await clock.sleep(LOOK_MS, signal);
    if (signal.aborted) return;
    const { user, system } = process.cpuUsage(before);
    if (isWorthCollecting({ cpuMs: (user + system) / 1000, heapBytes: heapBytes(), collectedBytes })) {
      collect();
      collectedBytes = heapBytes();
    }
    before = process.cpuUsage();
  }
}

function heapBytes(): number {
  return getHeapStatistics().total_heap_size;
}

/** V8's own, which it shows only so. The usual kind leaves the pages of a heap half empty and keeps them: a third of 3,000 machines. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: (options: object) => void = runInNewContext('gc');
  return () => collect({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}
