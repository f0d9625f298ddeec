import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineReader } from './clean-lines.ts';

const CASES: [what: string, chunks: string[], lines: string[]][] = [
  ['serial line ends', ['one\r\ntwo\r\n'], ['one', 'two']],
  ['a line in two pieces', ['on', 'e\n'], ['one']],
  ['a prompt without an end', ['ready\r\nlogin: '], ['ready', 'login: ']],
  ['a line that was written over', ['10%\r50%\r100%\r\n'], ['100%']],
  ['colours and a title', ['\x1b[31mred\x1b[0m \x1b]0;title\x07x\n'], ['red x']],
  ['bells and other control characters', ['a\x07b\x00c\td\n'], ['abc\td']],
  ['one-character sequences and other writing directions', ['a\x9b31mb\u202ec\u2028d\n'], ['abcd']],
  ['strings of the terminal, ended or not', ['\x1bPq#0~\x1b\\a\x1b]2;x\n', 'b\x1b(Bc\x1b7d\n'], ['a', 'bcd']],
  ['an empty line', ['\r\n\r\n'], ['', '']],
];

for (const [what, chunks, lines] of CASES) {
  test(`${what} is read as ${JSON.stringify(lines)}`, () => {
    const reader = createLineReader();
    const read = chunks.flatMap((chunk) => reader.push(Buffer.from(chunk)));
    assert.deepEqual([...read, ...reader.rest()], lines);
  });
}

test('a character in two pieces stays whole', () => {
  const reader = createLineReader();
  const [first = 0, ...others] = Buffer.from('ü\n');
  assert.deepEqual([...reader.push(Buffer.of(first)), ...reader.push(Buffer.from(others))], ['ü']);
});

test('a line without an end is printed in pieces', () => {
  assert.equal(createLineReader().push(Buffer.alloc(70_000, 'x')).length, 1);
});
