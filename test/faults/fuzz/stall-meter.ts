/** How long single turns of the event loop take, in CPU time of its thread, so that a busy machine does not count. */

export type Stalls = { readonly slowTurns: number; readonly worstMs: number };

/** Nobody should wait for longer because of somebody else's request, but for one of a thousand. */
export const SLOW_MS = 100;

/** Looks once in every turn for as long as the process lives; the answer says what was seen since it was last asked. */
export function startStallMeter(): () => Stalls {
  let seen: Stalls = { slowTurns: 0, worstMs: 0 };
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    const ms = (user + system) / 1000;
    seen = { slowTurns: seen.slowTurns + (ms > SLOW_MS ? 1 : 0), worstMs: Math.max(seen.worstMs, ms) };
  };
  setInterval(look, 1).unref();
  return () => {
    look();
    const answer = seen;
    seen = { slowTurns: 0, worstMs: 0 };
    return answer;
  };
}
