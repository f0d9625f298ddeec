import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeToOneLine, escapeUnprintable } from './escape-unprintable.ts';

const CASES: readonly (readonly [what: string, text: string, shown: string])[] = [
  ['plain text in any language', 'Grüße, 你好, 🙂', 'Grüße, 你好, 🙂'],
  ['layout', 'a\tb\r\nc\n', 'a\tb\r\nc\n'],
  ['a colour', '\u001b[31mred', '\\u001b[31mred'],
  ['a title', '\u001b]0;mine\u0007', '\\u001b]0;mine\\u0007'],
  ['a sequence that begins with one character', '\u009b2J', '\\u009b2J'],
  ['what writes over a line', 'rm -rf /\rls', 'rm -rf /\\u000dls'],
  ['a backspace', 'no\b\bok', 'no\\u0008\\u0008ok'],
  ['another writing direction', 'a\u202etxt.exe', 'a\\u202etxt.exe'],
  ['an invisible tag', 'a\u{e0041}', 'a\\udb40\\udc41'],
];

for (const [what, text, shown] of CASES) {
  test(`${what} is shown as ${shown}`, () => assert.equal(escapeUnprintable(text), shown));
}

test('JSON with anything in its texts stays the same JSON', () => {
  const value = { text: `${Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).join('')}\u{e0041}\u2028\u202e` };
  assert.deepEqual(JSON.parse(escapeUnprintable(JSON.stringify(value, null, 2))), value);
});

test('what has to stay on one line does', () => assert.equal(escapeToOneLine('a\nb\r\nc'), 'a\\u000ab\\u000d\\u000ac'));
