/** The words of the field in what people read: documents, published definitions, and the texts of messages. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/** What is not said, and what is said instead. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(is|are|and|yet) not here\b|(: |^)not here\b/im, 'not supported, or where it is'],
  [/\bmend(s|ed)? (it|the cause|that)\b|is mended/i, 'fix'],
  [/\b(is|this is) no port\b/i, 'invalid port'],
  [/\bpulls? the plug\b/i, 'force stop'],
  [/\bgoes on (where|from|to|starting|afterwards)\b|\bgone on with\b/i, 'resumes, retries or keeps'],
  [/\bslips?\b(?! of the)/i, 'mistake, or known issue'],
];

/** In messages alone: a document may tell how something goes on. */
const IN_MESSAGES: typeof WORDS = [[/\b(go|goes|went|gone) on\b/i, 'resumes, retries, continues or keeps']];

/** As a name of something, not of what somebody does. */
const CLAIM =
  /\b(an?|its|their|the|this|that|each|whose|no|new|other|more|of|on) claims?\b(?! (of whoever|to be|name\b))|(^|\. )claims?\b|\bclaims? (is|are|can|has|have|which)\b/im;
const SHORT: typeof WORDS = [
  [CLAIM, 'PVC'],
  [/\bseeds? \d|\bthe seeds?\b/i, 'the document'],
];
/** What Kubernetes says in the same case, word for word. */
const OF_KUBERNETES =
  /no persistent volumes available for this claim and no storage class is set|Bound claim has lost its PersistentVolume/g;

const MARKDOWN = ['README.md', ...['docs', 'docs/tasks'].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))].filter(
  (path) => path.endsWith('.md'),
);
const DEFINITIONS = readdirSync('deploy', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => join('deploy', name));
const EXAMPLES = readdirSync('examples', { recursive: true, encoding: 'utf8' }).map((name) => join('examples', name));
const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !/\.(test|testing)\.tsx?$/.test(path))
  .map((path) => join('src', path));

for (const path of MARKDOWN) test(`${path} has the words of the field`, () => assert.deepEqual(wrongWords(readFileSync(path, 'utf8')), []));

for (const path of [...DEFINITIONS, ...EXAMPLES.filter((name) => /\.(md|yaml)$/.test(name))])
  test(`${path} has the words of the field`, () => assert.deepEqual(wrongWords(readFileSync(path, 'utf8'), [...WORDS, ...SHORT]), []));

test('messages have the words of the field', () => {
  const wrong = SOURCES.flatMap((path) =>
    wrongWords(textsOf(readFileSync(path, 'utf8')).replaceAll(OF_KUBERNETES, ''), [...WORDS, ...IN_MESSAGES, ...SHORT]).map(
      (each) => `${path}: ${each}`,
    ),
  );
  assert.deepEqual(wrong, []);
});

test('documents call a PersistentVolumeClaim PVC, and no document by a name that only we know', () => {
  for (const path of MARKDOWN) {
    const prose = readFileSync(path, 'utf8').replaceAll(/^ {4}.*$|`[^`]*`|\[[^\]]*\](\([^)]*\))?/gm, '');
    assert.deepEqual(wrongWords(prose, SHORT), [], path);
  }
});

test('no document and no example leads to a Node that is too old', () => {
  const sources = EXAMPLES.filter((name) => /\.(md|yaml|ts)$/.test(name));
  for (const path of [...MARKDOWN, 'CONTRIBUTING.md', 'ARCHITECTURE.md', ...sources]) {
    const text = readFileSync(path, 'utf8');
    assert.doesNotMatch(text, /(?<!script\/)\bnode [\w./-]+\.m?ts\b/, `${path}: script/node finds Node 24`);
    assert.doesNotMatch(text, /\bNode(\.js)? (1\d|2[0-3])\b(?! or (newer|later) is not)/, path);
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
