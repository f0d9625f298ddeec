/** The words of the field in what people read: documents, published definitions, and the texts of messages. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** What is not said, and what is said instead. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(is|are|and|yet) not here\b|: not here\b/i, 'not supported'],
  [/\bmend(s|ed)? (it|the cause|that)\b|is mended/i, 'fix'],
  [/\b(is|this is) no port\b/i, 'invalid port'],
  [/\bpulls? the plug\b/i, 'force stop'],
  [/\bgoes on (where|from|to|starting)\b/i, 'resumes, retries or keeps'],
  [/\bslips?\b(?! of the)/i, 'mistake, or known issue'],
];

/** In messages alone: a document may tell how something goes on. */
const IN_MESSAGES: typeof WORDS = [[/\b(go|goes|went) on\b/i, 'resumes, retries, continues or keeps']];

const MARKDOWN = ['README.md', ...['docs', 'docs/tasks'].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))].filter(
  (path) => path.endsWith('.md'),
);
const DEFINITIONS = readdirSync('deploy/crds').map((name) => join('deploy/crds', name));
const EXAMPLES = readdirSync('examples', { recursive: true, encoding: 'utf8' }).map((name) => join('examples', name));
const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !/\.(test|testing)\.tsx?$/.test(path))
  .map((path) => join('src', path));

for (const path of [...MARKDOWN, ...DEFINITIONS, ...EXAMPLES.filter((name) => /\.(md|yaml)$/.test(name))])
  test(`${path} has the words of the field`, () => assert.deepEqual(wrongWords(readFileSync(path, 'utf8')), []));

test('messages have the words of the field', () => {
  const wrong = SOURCES.flatMap((path) =>
    wrongWords(textsOf(readFileSync(path, 'utf8')), [...WORDS, ...IN_MESSAGES]).map((each) => `${path}: ${each}`),
  );
  assert.deepEqual(wrong, []);
});

test('documents call a PersistentVolumeClaim PVC, and no document by a name that only we know', () => {
  for (const path of MARKDOWN) {
    const prose = readFileSync(path, 'utf8').replaceAll(/^ {4}.*$|`[^`]*`|\[[^\]]*\](\([^)]*\))?/gm, '');
    assert.doesNotMatch(prose, /\b(a|its|each|the) claims?\b(?! (of whoever|to be))|\bseeds\b/, path);
  }
});

function wrongWords(text: string, words = WORDS): string[] {
  return words.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [`"${found}": say ${instead}`];
  });
}

/** What stands in quotes or between tags, comments left out. */
function textsOf(source: string): string {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$| \/\/ .*$/gm, '');
  return [...code.matchAll(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|>[^<>{}()=;]+</g)].map(([text]) => text).join('\n');
}
