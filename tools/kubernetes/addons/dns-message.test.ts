import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, readQuestion, TYPE_A } from './dns-message.ts';

const question = (name: string, type = TYPE_A) =>
  Buffer.concat([
    Buffer.from([0x12, 0x34, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0, 0, type, 0, 1]),
  ]);
const summary = (message: Buffer | undefined) =>
  message && { id: message.readUInt16BE(0), flags: message.readUInt16BE(2), answers: message.readUInt16BE(6) };

test('a name is read without its case', () => {
  assert.deepEqual(readQuestion(question('Web.Default')), { name: 'web.default', type: 1, class: 1, end: 29 });
});

test('a name that is known is answered with its addresses', () => {
  const given = answer(question('web'), () => ['10.0.0.1', '10.0.0.2'], 'udp');
  assert.deepEqual(summary(given), { id: 0x1234, flags: 0x8580, answers: 2 });
  assert.deepEqual(given && [...given.subarray(-4)], [10, 0, 0, 2]);
});

test('a name that is unknown does not exist, one without such a record is empty', () => {
  assert.deepEqual(summary(answer(question('web'), () => undefined, 'udp')), { id: 0x1234, flags: 0x8583, answers: 0 });
  assert.deepEqual(summary(answer(question('web', 28), () => ['10.0.0.1'], 'udp')), { id: 0x1234, flags: 0x8580, answers: 0 });
});

test('what does not fit into a datagram is asked again over TCP', () => {
  const many = Array.from({ length: 60 }, (_, index) => `10.0.0.${index}`);
  assert.deepEqual(summary(answer(question('web'), () => many, 'udp')), { id: 0x1234, flags: 0x8780, answers: 0 });
  assert.deepEqual(summary(answer(question('web'), () => many, 'tcp')), { id: 0x1234, flags: 0x8580, answers: 60 });
});

test('no message makes it fail', () => {
  const whole = question('web.default.svc.cluster.local');
  for (let length = 0; length < whole.length; length++) {
    const given = summary(answer(whole.subarray(0, length), () => ['10.0.0.1'], 'udp'));
    assert.deepEqual(given, length < 12 ? undefined : { id: 0x1234, flags: 0x8581, answers: 0 });
  }
  assert.equal(
    answer(Buffer.from([0, 0, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0]), () => [], 'udp'),
    undefined,
    'an answer is no question',
  );
});
