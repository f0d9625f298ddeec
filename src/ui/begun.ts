/** Answers that were asked for before the page was there to ask; see `begin.ts`. */
export type Begun = Map<string, Promise<Response>>;

/** The answer for this address, if it was asked for and nobody has taken it yet. */
export function takeBegun(url: string): Promise<Response> | undefined {
  const { begun } = globalThis as { begun?: Begun };
  const answer = begun?.get(url);
  begun?.delete(url);
  return answer;
}
