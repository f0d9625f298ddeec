import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lastTime, nextTime, parseCron } from './cron.ts';
import { isTimeZone } from './time-zone.ts';

const at = (text: string) => Date.parse(text);
const shown = (ms: number | undefined) => (ms === undefined ? 'never' : new Date(ms).toISOString().slice(0, 19));

const next: [schedule: string, timeZone: string, after: string, expected: string][] = [
  ['* * * * *', 'UTC', '2026-01-01T00:00:30Z', '2026-01-01T00:01:00'],
  ['*/15 * * * *', 'UTC', '2026-01-01T00:15:00Z', '2026-01-01T00:30:00'],
  ['5/20 3 * * *', 'UTC', '2026-01-01T04:00:00Z', '2026-01-02T03:05:00'],
  ['0 9-17/4 * * MON-FRI', 'UTC', '2026-01-02T17:00:00Z', '2026-01-05T09:00:00'],
  ['0 0 * * 7', 'UTC', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00'],
  ['0 0 13 * FRI', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00'],
  ['0 0 29 FEB *', 'UTC', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00'],
  ['0 0 31 2 *', 'UTC', '2026-01-01T00:00:00Z', 'never'],
  ['@monthly', 'UTC', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00'],
  ['@every 90s', 'UTC', '2026-01-01T00:00:10Z', '2026-01-01T00:01:40'],
  ['30 6 * * *', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00'],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-30T00:30:00'], // 02:30 does not come on the 29th
  ['0 12 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T10:00:00'],
  ['0 12 * * *', 'America/New_York', '2026-10-31T23:00:00Z', '2026-11-01T17:00:00'],
];

describe('the next time', () => {
  for (const [schedule, timeZone, after, expected] of next) {
    test(`${schedule} in ${timeZone} after ${after}`, () => {
      const cron = parseCron(schedule);
      assert.ok(cron);
      assert.equal(shown(nextTime(cron, { afterMs: at(after), timeZone })), expected);
    });
  }
});

test('the last time is the one before now, and after what was done already', () => {
  const cron = parseCron('0 * * * *');
  assert.ok(cron);
  const last = (after: string, until: string) => shown(lastTime(cron, { afterMs: at(after), untilMs: at(until), timeZone: 'UTC' }));
  assert.equal(last('2026-01-01T00:00:00Z', '2026-01-03T10:20:00Z'), '2026-01-03T10:00:00');
  assert.equal(last('2026-01-03T10:00:00Z', '2026-01-03T10:20:00Z'), 'never');
});

test('what is no schedule and no time zone', () => {
  const wrong = [
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    '1,,2 * * * *',
  ];
  for (const text of [...wrong, 'MON * * * *', '@sometimes', '@every x', '@every 1ms', 'TZ=UTC * * * * *', '*'.repeat(300)])
    assert.equal(parseCron(text), undefined, text);
  assert.deepEqual(['UTC', 'Europe/Berlin', 'Nowhere/Here', '', 'Local'].map(isTimeZone), [true, true, false, false, false]);
});

test('the rarest schedule of the slowest kind is found within a second', () => {
  const cron = parseCron('* * 29 2 *');
  assert.ok(cron);
  const started = performance.now();
  nextTime(cron, { afterMs: at('2096-03-01T00:00:00Z'), timeZone: 'Europe/Berlin' });
  assert.ok(performance.now() - started < 1000);
});
