/** Remembers since when something that was there is gone. What was never seen, or not since a restart, has no such time. */
export type Absences = {
  /** To be asked at every look; the time of the first look that did not find it. */
  since(key: string, isThere: boolean, now: number): number | undefined;
  forget(key: string): void;
};

export function rememberAbsences(): Absences {
  const known = new Map<string, 'there' | number>();
  return {
    since(key, isThere, now) {
      const before = known.get(key);
      if (isThere) known.set(key, 'there');
      if (isThere || before === undefined) return undefined;
      if (before !== 'there') return before;
      known.set(key, now);
      return now;
    },
    forget: (key) => void known.delete(key),
  };
}
