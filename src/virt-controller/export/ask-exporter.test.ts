/** The Pod of an export, or of an importer, says of itself what it likes: what is not of the right shape was not said. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressIn } from '../data-volume/progress.ts';
import { exportStateIn } from './ask-exporter.ts';

const SAID: readonly (readonly [json: string, state: unknown])[] = [
  [
    '{"volumes":[{"name":"a","sizeBytes":1,"hasFiles":true}],"cert":"PEM"}',
    { volumes: [{ name: 'a', sizeBytes: 1, hasFiles: true }], cert: 'PEM' },
  ],
  [
    '{"volumes":[null,1,[],{},{"name":{}},{"name":"a","sizeBytes":"1"},{"name":"b","sizeBytes":2,"x":1}]}',
    { volumes: [{ name: 'b', sizeBytes: 2 }] },
  ],
  ['{"volumes":[],"cert":{"toString":1},"failure":[1]}', { volumes: [] }],
  ['{"volumes":{}}', undefined],
  ['null', undefined],
  ['[]', undefined],
];
for (const [json, state] of SAID)
  test(`of ${json} what is a state is believed`, () => {
    assert.deepEqual(exportStateIn(JSON.parse(json)), state);
  });

test('a reason without an end is cut', () => {
  assert.equal(exportStateIn({ volumes: [], failure: 'x'.repeat(90_000) })?.failure?.length, 500);
});

test('how far an importer is, is a number of bytes', () => {
  const said = ['{"doneBytes":1,"totalBytes":2}', '{"doneBytes":1,"totalBytes":-2}', '{"doneBytes":1e999}', '{"doneBytes":"1"}', 'null'];
  assert.deepEqual(
    said.map((each) => progressIn(JSON.parse(each))),
    [{ doneBytes: 1, totalBytes: 2 }, { doneBytes: 1 }, undefined, undefined, undefined],
  );
});
