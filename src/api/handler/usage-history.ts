/** What a machine used over the last hours, as its node remembers it: one point for each step, in the same order of fields everywhere. */

/** How often guests are measured, which is one step. */
export const MEASURED_EVERY_SECONDS = 20;
/** Ten hours. */
export const HISTORY_STEPS = 1800;
export const HISTORY_SECONDS = MEASURED_EVERY_SECONDS * HISTORY_STEPS;
/** What is told when nobody says how far back. */
export const USUAL_HISTORY_SECONDS = 3600;
/** Of a longer time there are no more points than this: steps are put together. */
export const MOST_HISTORY_POINTS = 360;

export const HISTORY_FIELDS = [
  /** Processors, of its node. */
  'cpuCores',
  /** Memory of its node that it has. */
  'residentBytes',
  /** Memory that the guest says it uses. */
  'guestUsedBytes',
  'diskReadBytesPerSecond',
  'diskWrittenBytesPerSecond',
  'networkReceivedBytesPerSecond',
  'networkSentBytesPerSecond',
] as const;
export type HistoryField = (typeof HISTORY_FIELDS)[number];

/** Undefined where it was not known. */
export type HistoryPoint = { readonly atSeconds: number } & Readonly<Partial<Record<HistoryField, number>>>;
/** What its serial console told of a start that its node has seen; of a guest that was running before nothing is known. */
export type GuestStart = {
  /** Firmware or kernel printed something. */
  readonly printedAtMs?: number;
  /** It asked for a login. */
  readonly loginAtMs?: number;
};
export type UsageHistory = {
  readonly start?: GuestStart;
  /** How much time a point stands for. */
  readonly stepSeconds: number;
  /** In the order of time; a step in which nothing was measured has none. */
  readonly points: readonly HistoryPoint[];
};
