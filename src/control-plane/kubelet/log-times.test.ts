import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { LineStamper, noteLogTime, readLogTimes, startOfTime } from './log-times.ts';

const SECOND = 1000;

/** A log that gets these lines at these seconds, each noted at its second. */
function logOf(t: TestContext, pieces: readonly (readonly [atSecond: number, text: string])[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'log-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const log = join(dir, '0.log');
  writeFileSync(log, '');
  for (const [atSecond, text] of pieces) {
    appendFileSync(log, text);
    const later = Date.now() / 1000 + 100 + atSecond;
    utimesSync(log, later, later); // as if it were written after the last note
    noteLogTime(log, atSecond * SECOND);
  }
  return log;
}

test('a line has the time of the first look that found it', (t) => {
  const log = logOf(t, [
    [1, 'one\ntw'],
    [2, 'o\n'],
    [3, 'three\n'],
  ]);
  const stamper = new LineStamper(
    () => readLogTimes(log),
    () => 9 * SECOND,
  );
  const text = stamper.stamp(Buffer.from('one\ntwo\nthr'), 0).toString() + stamper.stamp(Buffer.from('ee\nfour\n'), 11).toString();
  const at = (second: number) => `1970-01-01T00:00:0${second}.000000000Z`;
  assert.equal(text, `${at(1)} one\n${at(1)} two\n${at(3)} three\n${at(9)} four\n`);
});

test('since a time means from the first whole line that came after it', async (t) => {
  const log = logOf(t, [
    [1, 'one\ntw'],
    [2, 'o\n'],
    [3, 'three\n'],
  ]);
  const times = readLogTimes(log);
  const starts = await Promise.all([0, 2, 3, 4].map((second) => startOfTime(log, times, second * SECOND)));
  assert.deepEqual(starts, [0, 4, 8, 14]);
});

test('what was noted before a log was cut is forgotten', (t) => {
  const log = logOf(t, [[1, 'a long line\n']]);
  writeFileSync(log, 'new\n');
  utimesSync(log, Date.now() / 1000 + 500, Date.now() / 1000 + 500);
  noteLogTime(log, 5 * SECOND);
  assert.deepEqual(readLogTimes(log), [{ size: 4, atMs: 5 * SECOND }]);
});
