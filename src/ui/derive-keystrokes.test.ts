import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHORDS, deriveTyping, strokesOf } from './derive-keystrokes.ts';

const codesOf = (text: string) => deriveTyping(text).chords.map((chord) => chord.map(({ code }) => code).join('+'));

test('text is typed as on a US keyboard, with Shift where that takes it', () => {
  assert.deepEqual(codesOf('aB7&|\r\n'), ['KeyA', 'ShiftLeft+KeyB', 'Digit7', 'ShiftLeft+Digit7', 'ShiftLeft+Backslash', 'Enter']);
});

test('every character that can be printed has a key, and what has none is said once', () => {
  const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));
  const { chords, without } = deriveTyping(printable);
  assert.deepEqual([chords.length, without], [95, []]);
  assert.equal(new Set(chords.map((chord) => JSON.stringify(chord))).size, 95);
  assert.deepEqual(deriveTyping('año ñ€').without, ['ñ', '€']);
});

test('the keys of a chord go down one after the other, and up the other way round', () => {
  const [[label, chord] = assert.fail('there is one')] = CHORDS;
  assert.equal(label, 'Ctrl+Alt+Del');
  assert.deepEqual(
    strokesOf(chord).map(({ key, isDown }) => `${key.code} ${isDown ? 'down' : 'up'}`),
    ['ControlLeft down', 'AltLeft down', 'Delete down', 'Delete up', 'AltLeft up', 'ControlLeft up'],
  );
});
