import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockBase } from './clock-base.ts';
import { boardOf } from './machine.ts';
import { renderBoard } from './render-arguments.ts';
import { input, valuesOf } from './vmi.testing.ts';

const WINTER = Date.UTC(2026, 0, 31, 23, 30, 5);
const SUMMER = Date.UTC(2026, 6, 1, 12, 0, 0);

const CASES: readonly [clock: Parameters<typeof clockBase>[0], nowMs: number, shown: string | undefined][] = [
  [{}, WINTER, undefined],
  [{ utc: {} }, WINTER, undefined],
  [{ utc: { offsetSeconds: 0 } }, WINTER, undefined],
  [{ utc: { offsetSeconds: 3600 } }, WINTER, '2026-02-01T00:30:05'],
  [{ utc: { offsetSeconds: -86_400 } }, WINTER, '2026-01-30T23:30:05'],
  [{ timezone: 'Europe/Berlin' }, WINTER, '2026-02-01T00:30:05'],
  [{ timezone: 'Europe/Berlin' }, SUMMER, '2026-07-01T14:00:00'],
  [{ timezone: 'America/St_Johns' }, SUMMER, '2026-07-01T09:30:00'],
  [{ timezone: 'UTC' }, SUMMER, '2026-07-01T12:00:00'],
];
for (const [clock, nowMs, shown] of CASES)
  test(`${JSON.stringify(clock)} at ${new Date(nowMs).toISOString()} shows ${shown ?? 'UTC'}`, () =>
    assert.equal(clockBase(clock, nowMs), shown));

test('a zone that does not exist, or is an option of QEMU, starts nothing', () => {
  for (const timezone of ['Europe/Atlantis', 'UTC,clock=vm'])
    assert.throws(() => clockBase({ timezone }, WINTER), { code: 'CLOCK_INVALID' });
});

test('QEMU is told the time with what else is said of the clock', () => {
  const clock = { timezone: 'Asia/Tokyo', timer: { rtc: { track: 'guest' as const } } };
  const board = boardOf({ ...input({}, {}, { clock }), host: { accel: 'tcg', nowMs: SUMMER } });
  assert.deepEqual(valuesOf(renderBoard(board), '-rtc'), ['base=2026-07-01T21:00:00,clock=vm']);
});
