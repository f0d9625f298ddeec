/**
 * Schedules as cron has them: five fields, or a word. What they cost does not depend on what they say: a day has at most 1440 times, and
 * nine years of days are looked at, which is the longest that a 29th of February keeps one waiting.
 */
import { parseGoDuration } from './go-duration.ts';
import { wallClock } from './time-zone.ts';

export type Cron =
  | { readonly everyMs: number }
  | {
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      readonly days: ReadonlySet<number>;
      readonly months: ReadonlySet<number>;
      readonly weekdays: ReadonlySet<number>;
      /** Where both days and weekdays are named, either is enough. */
      readonly isEitherDay: boolean;
    };
type Calendar = Extract<Cron, { readonly minutes: ReadonlySet<number> }>;

export const CRON_WHY =
  'must be five fields (minute, hour, day of the month, month, day of the week) of numbers, names, *, lists, ranges and steps, or a word such as @daily';

const LONGEST = 256;
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const WORDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const DAY_MS = 86_400_000;
const LONGEST_WAIT_DAYS = 9 * 366;

type Field = { readonly from: number; readonly to: number; readonly names?: readonly string[] };
const FIELDS: readonly Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: MONTHS },
  { from: 0, to: 7, names: WEEKDAYS },
];

/** The schedule that a text stands for; undefined when it is none. */
export function parseCron(text: string): Cron | undefined {
  if (text.length > LONGEST) return undefined;
  if (text.startsWith('@every ')) {
    const everyMs = parseGoDuration(text.slice('@every '.length).trim()) ?? 0;
    return everyMs >= 1000 ? { everyMs: Math.floor(everyMs / 1000) * 1000 } : undefined;
  }
  const fields = (Object.hasOwn(WORDS, text) ? WORDS[text]! : text).trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return undefined;
  const sets = fields.map((field, i) => parseField(field, FIELDS[i]!)); // as many as there are fields
  const [minutes, hours, days, months, weekdays] = sets;
  if (!minutes || !hours || !days || !months || !weekdays) return undefined;
  const isAny = (field: string | undefined) => field === '*' || field === '?' || /^[*?]\//.test(field ?? '');
  const sundays = weekdays.has(7) ? [0] : [];
  return {
    minutes,
    hours,
    days,
    months,
    weekdays: new Set([...weekdays, ...sundays]),
    isEitherDay: !isAny(fields[2]) && !isAny(fields[4]),
  };
}

function parseField(text: string, field: Field): Set<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(?:([*?])|([A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?)(?:\/(\d{1,4}))?$/.exec(part);
    if (!match) return undefined;
    const [, any, first, last, every] = match;
    const from = any ? field.from : numberOf(first, field);
    const to = any ? Math.min(field.to, field.names === WEEKDAYS ? 6 : field.to) : last ? numberOf(last, field) : every ? field.to : from;
    const step = every === undefined ? 1 : Number(every);
    if (from === undefined || to === undefined || from > to || step < 1) return undefined;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function numberOf(text: string | undefined, { from, to, names }: Field): number | undefined {
  const named = names?.indexOf((text ?? '').toUpperCase()) ?? -1;
  const value = named >= 0 ? named + (names === MONTHS ? 1 : 0) : /^\d{1,2}$/.test(text ?? '') ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : undefined;
}

export type Span = { readonly afterMs: number; readonly timeZone: string };

/** The first time after a moment; undefined when there is none, as on a 31st of February. */
export function nextTime(cron: Cron, { afterMs, timeZone }: Span): number | undefined {
  if ('everyMs' in cron) return Math.floor(afterMs / 1000) * 1000 + cron.everyMs;
  const wall = wallClock(timeZone);
  const first = startOfDay(wall(afterMs));
  for (let day = first; day <= first + LONGEST_WAIT_DAYS * DAY_MS; day += DAY_MS) {
    const found = timesOf(cron, day, wall).find((at) => at > afterMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The last time after one moment and not after another; undefined when there is none. */
export function lastTime(cron: Cron, { afterMs, timeZone, untilMs }: Span & { readonly untilMs: number }): number | undefined {
  if ('everyMs' in cron) {
    const start = Math.floor(afterMs / 1000) * 1000;
    const count = Math.floor((untilMs - start) / cron.everyMs);
    return count > 0 ? start + count * cron.everyMs : undefined;
  }
  const wall = wallClock(timeZone);
  const lastDay = startOfDay(wall(untilMs));
  const firstDay = Math.max(startOfDay(wall(afterMs)), lastDay - LONGEST_WAIT_DAYS * DAY_MS);
  for (let day = lastDay; day >= firstDay; day -= DAY_MS) {
    const found = timesOf(cron, day, wall).findLast((at) => at > afterMs && at <= untilMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

function startOfDay(wallMs: number): number {
  return Math.floor(wallMs / DAY_MS) * DAY_MS;
}

/** The times of a day, in order. A time that the clocks leave out, when they go forward, is not there; one that comes twice counts once. */
function timesOf(cron: Calendar, dayMs: number, wall: (atMs: number) => number): number[] {
  const date = new Date(dayMs);
  const isDay = cron.days.has(date.getUTCDate());
  const isWeekday = cron.weekdays.has(date.getUTCDay());
  if (!cron.months.has(date.getUTCMonth() + 1) || !(cron.isEitherDay ? isDay || isWeekday : isDay && isWeekday)) return [];
  const times: number[] = [];
  for (const hour of [...cron.hours].sort((a, b) => a - b)) {
    for (const minute of [...cron.minutes].sort((a, b) => a - b)) {
      const wanted = dayMs + (hour * 60 + minute) * 60_000;
      const at = momentOf(wanted, wall);
      if (at !== undefined) times.push(at);
    }
  }
  return times;
}

/** When the clocks of the zone show this. */
function momentOf(wantedMs: number, wall: (atMs: number) => number): number | undefined {
  let at = wantedMs;
  for (let tries = 0; tries < 3; tries += 1) {
    const off = wall(at) - wantedMs;
    if (off === 0) return at;
    at -= off;
  }
  return undefined;
}
