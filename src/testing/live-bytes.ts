/** How much memory is really in use, for tests of what must stay bounded. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the heap and of buffers that something still refers to. */
export function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // the flag has just put it there
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
