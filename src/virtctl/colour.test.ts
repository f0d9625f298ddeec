import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paintFor } from './colour.ts';

test('on a terminal there is colour', () => {
  assert.equal(paintFor({ isTTY: true }, {})('green', 'Running'), '\x1b[32mRunning\x1b[0m');
  assert.equal(paintFor({ isTTY: true }, {})(undefined, 'Running'), 'Running');
});

for (const [isTTY, env] of [
  [false, {}],
  [true, { NO_COLOR: '1' }],
  [true, { TERM: 'dumb' }],
] as const)
  test(`none with ${JSON.stringify({ isTTY, ...env })}`, () => assert.equal(paintFor({ isTTY }, env)('red', 'x'), 'x'));
