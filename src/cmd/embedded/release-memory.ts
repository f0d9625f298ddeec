/**
 * Starting makes a heap that serving does not need: manifests, schemas and certificates in all the shapes that they had on the way. V8 gives it back
 * when it next has work to do, which an idle cluster never has.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../base/clock.ts';

/** Later than what starts by itself, sooner than anybody looks. */
const AFTER_MS = 10_000;

/** Collects once, a while after the start. */
export async function releaseMemoryAfterStart(clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(AFTER_MS, signal);
  if (signal.aborted) return;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)(); // V8's own, which it shows only so
}
