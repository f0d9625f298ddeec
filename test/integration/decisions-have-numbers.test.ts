/** A decision is named by its number, in code, documents and the changelog: a number must stand for one decision, and for one that is there. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = 'docs/adr';

const decisions = readdirSync(join(ROOT, FOLDER));
const numbers = decisions.map((file) => Number(file.slice(0, 4)));
const texts = [...readdirSync(ROOT), ...['docs', 'src', 'test', 'tools'].flatMap(filesBelow)]
  .filter((path) => /\.(md|ts)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

test('no number stands for two decisions', () => {
  assert.deepEqual(
    decisions.filter((_, index) => numbers.indexOf(numbers[index] ?? 0) !== index),
    [],
  );
});

test('the title of a decision begins with the number of its file', () => {
  const titles = decisions.map((file) => [file, readFileSync(join(ROOT, FOLDER, file), 'utf8').slice(0, 8)]);
  assert.deepEqual(
    titles,
    decisions.map((file) => [file, `# ${file.slice(0, 4)}: `]),
  );
});

test('a decision that is named by its number is there', () => {
  const named = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\bADRs? (\d+(?:(?:, | and )\d+)*)/g)].flatMap(([, list = '']) =>
      list.split(/, | and /).map((number) => ({ path, number: Number(number) })),
    ),
  );
  assert.ok(named.length > 10, 'finds the places where decisions are named');
  assert.deepEqual(
    named.filter(({ number }) => !numbers.includes(number)),
    [],
  );
});

test('a decision that is named by its file is there', () => {
  const named = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\badr\/(\d{4}-[\w-]+\.md)/g)].map(([, file = '']) => ({ path, file })),
  );
  assert.deepEqual(
    named.filter(({ file }) => !decisions.includes(file)),
    [],
  );
});

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}
