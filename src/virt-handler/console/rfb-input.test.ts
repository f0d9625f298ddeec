import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RfbInput } from './rfb-input.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const GREETING = Buffer.concat([Buffer.from('RFB 003.008\n'), hex('01 01')]);
const DOWN = hex('04 01 0000 00000061');
const UP = hex('04 00 0000 00000061');
const CLICK = hex('05 01 0010 0020');
const PICTURE = hex('03 00 0000 0000 0010 0010');
const ENCODINGS = hex('02 00 0002 00000000 00000001');
const CLIPBOARD = Buffer.concat([hex('06 000000 00000005'), Buffer.from('hello')]);
const FENCE = hex('f8 000000 00000001 02 aabb');
const SIZE = Buffer.concat([hex('fb 00 0400 0300 01 00'), Buffer.alloc(16)]);
const QEMU_KEY = hex('ff 00 0001 00000061 0000001e');
const SOUND = hex('ff 01 0002 03 02 0000ac44');
const INPUT = [DOWN, UP, CLICK, CLIPBOARD, SIZE, QEMU_KEY];
const LOOKING = [PICTURE, ENCODINGS, FENCE, SOUND, hex('96 01 0000 0000 0010 0010'), Buffer.alloc(20)];

const all = Buffer.concat([GREETING, ...INPUT.flatMap((input, index) => [input, LOOKING[index] ?? PICTURE])]);

test('the one whose turn it is sends everything, in whatever pieces it comes', () => {
  for (const size of [1, 3, 7, all.length]) {
    const input = new RfbInput();
    const passed: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) passed.push(input.push(all.subarray(at, at + size), () => true) ?? Buffer.alloc(0));
    assert.deepEqual(Buffer.concat(passed), all, `pieces of ${size}`);
  }
});

test('of another only what is about looking is passed on', () => {
  for (const size of [1, 5, all.length]) {
    const input = new RfbInput();
    const passed: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) passed.push(input.push(all.subarray(at, at + size), () => false) ?? Buffer.alloc(0));
    assert.deepEqual(Buffer.concat(passed), Buffer.concat([GREETING, ...LOOKING]), `pieces of ${size}`);
  }
});

test('a viewer of RFB 3.3 chooses nothing', () => {
  const old = Buffer.concat([Buffer.from('RFB 003.003\n'), hex('01'), DOWN, PICTURE]);
  assert.deepEqual(
    new RfbInput().push(old, () => false),
    Buffer.concat([old.subarray(0, 13), PICTURE]),
  );
});

test('who loses the turn lets go of keys and buttons', () => {
  const input = new RfbInput();
  input.push(Buffer.concat([GREETING, DOWN, QEMU_KEY, UP, hex('04 01 0000 00000062'), CLICK]), () => true);
  assert.deepEqual(input.release(), hex('04 00 0000 00000062 05 00 0010 0020'));
  assert.equal(input.release().length, 0);
});

test('a message of an unknown kind is the end', () => {
  assert.equal(
    new RfbInput().push(Buffer.concat([GREETING, hex('63')]), () => true),
    undefined,
  );
  assert.equal(
    new RfbInput().push(Buffer.concat([GREETING, hex('ff 09')]), () => true),
    undefined,
  );
});
