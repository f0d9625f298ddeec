import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { ApiError } from './errors.ts';
import { createLogger } from './log.ts';

function logged(repeatAfterMs?: number) {
  const lines: Record<string, unknown>[] = [];
  const clock = new FakeClock(0);
  const log = createLogger({
    write: (line) => lines.push(JSON.parse(line)),
    level: 'info',
    now: () => clock.now(),
    ...(repeatAfterMs !== undefined && { repeatAfterMs }),
  });
  return { log, lines, clock };
}

test('an answer of the API is logged by what it says, a mistake of ours with where it was', () => {
  const { log, lines } = logged();
  log.warn('cannot', { error: new ApiError('InternalError', 'no space left') });
  log.warn('cannot', { error: new TypeError('oops') });
  assert.deepEqual(
    lines.map(({ error, stack }) => [error, typeof stack]),
    [
      ['no space left', 'undefined'],
      ['oops', 'string'],
    ],
  );
});

test('the same warning is said once a minute, with how often it was left out', () => {
  const { log, lines, clock } = logged(60_000);
  for (let n = 0; n < 120; n += 1) {
    log.with({ node: 'n1' }).warn('cannot renew', { failures: n, error: new Error('full') });
    clock.advance(1_000);
  }
  log.warn('another one');
  assert.deepEqual(
    lines.map(({ message, leftOut }) => [message, leftOut]),
    [
      ['cannot renew', undefined],
      ['cannot renew', 59],
      ['another one', undefined],
    ],
  );
});
