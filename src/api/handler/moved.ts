/**
 * How a stream to a guest ends that goes on at another node: a close code of our own, and in the reason what whoever opens it again there has to
 * know. Clients of KubeVirt do not know the code: they are cut off, as they are there.
 */

/** Of a WebSocket; 4000 to 4999 are for applications. */
export const MOVED_CODE = 4410;

export type Moved = {
  /** How many bytes of this client the guest was given; what came after them is to be sent again. */
  readonly taken: number;
  /** How much of what was printed the other node knows already; the client has seen that. */
  readonly printed: number;
};

export function movedReason({ taken, printed }: Moved): string {
  return `moved ${taken} ${printed}`;
}

/** Undefined when it did not end because the guest has moved. */
export function readMoved(code: number, reason: string): Moved | undefined {
  const [, taken, printed] = /^moved (\d{1,15}) (\d{1,15})$/.exec(reason) ?? [];
  return code === MOVED_CODE && taken !== undefined ? { taken: Number(taken), printed: Number(printed) } : undefined;
}
