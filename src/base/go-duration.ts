/** Durations as Go writes them: 5m0s, 1h30m, 1.5s, 300ms. */

const UNITS_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;

/** Milliseconds; undefined when the text is none, or a negative one. */
export function parseGoDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (text.length > 64 || !WHOLE.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce((sum, [, number, unit = 's']) => sum + Number(number) * (UNITS_MS[unit] ?? 0), 0);
}
