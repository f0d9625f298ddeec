import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listTexts, streamOrText } from './list-text.ts';

const HEAD = JSON.stringify({ kind: 'ConfigMapList', metadata: {} });

function body(count: number, size: number) {
  return streamOrText(listTexts(HEAD, Array.from({ length: count }).fill('ä'.repeat(size)), JSON.stringify));
}

test('an empty list is a list', () => {
  assert.deepEqual(JSON.parse(String(body(0, 0))), { kind: 'ConfigMapList', metadata: {}, items: [] });
});

test('a short list is one text', () => {
  assert.deepEqual(JSON.parse(String(body(3, 2))).items, ['ää', 'ää', 'ää']);
});

test('a long list comes in pieces, each made when it is asked for, and is whole', async () => {
  let made = 0;
  const texts = listTexts(HEAD, Array.from({ length: 1000 }).fill('ö'.repeat(1500)), (item) => {
    made += 1;
    return JSON.stringify(item);
  });
  const response = new Response(streamOrText(texts));
  assert.ok(made < 200, `${made} objects before anybody read`);
  const { items } = (await response.json()) as { items: string[] };
  assert.deepEqual([items.length, new Set(items).size, items[0]?.length], [1000, 1, 1500]);
});

test('pieces end exactly with the last object', async () => {
  for (const count of [1, 2, 3]) {
    const { items } = (await new Response(body(count, 128 * 1024)).json()) as { items: string[] };
    assert.equal(items.length, count);
  }
});
