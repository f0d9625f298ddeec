/** Every promise of docs/security.md names the test that proves it: the file is there, and has a test of that name. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const [, TABLES = ''] = readFileSync('docs/security.md', 'utf8').split('\n## Attacks and their tests\n');
const ROWS = TABLES.split('\n')
  .filter((line) => /^\| (?!attack \|)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));
/** A link to a file and the names of tests in it. */
const PROOF = /\[([^\]]+)\]\(([^)]+)\) ((?:`[^`]+`(?:, )?)+)/g;

for (const [attack = '', holds, proof = ''] of ROWS) {
  test(`security: ${attack}`, () => {
    assert.ok(holds, 'the row says what holds');
    if (proof === 'no test') return;
    const found = [...proof.matchAll(PROOF)];
    assert.equal(found.map(([text]) => text).join('; '), proof, 'the last column is links with names of tests');
    for (const [, name = '', link = '', titles = ''] of found) {
      const path = join('docs', link);
      assert.ok(existsSync(path) && path.endsWith(`/${name}`), path);
      const source = readFileSync(path, 'utf8');
      for (const [, title = ''] of titles.matchAll(/`([^`]+)`/g)) assert.ok(hasTest(source, title), `${path} has no test "${title}"`);
    }
  });
}

test('most attacks have a test, and those without are counted', (t) => {
  const untested = ROWS.filter(([, , proof]) => proof === 'no test').map(([attack]) => attack);
  t.diagnostic(`${ROWS.length} attacks in docs/security.md, ${untested.length} without a test: ${untested.join('; ')}`);
  assert.ok(ROWS.length > 40);
  assert.ok(untested.length <= ROWS.length / 10, 'more than a tenth has no test');
});

test('a test that is not there is noticed', () => {
  const source = `test('a', () => {});\n  await t.test(\n    "b", () => {});\n// test of d: 'd'`;
  assert.deepEqual(
    ['a', 'b', 'd', 'e'].map((title) => hasTest(source, title)),
    [true, true, false, false],
  );
});

/** Whether the source has a test, or a group of tests, with this title, as it is written there. */
function hasTest(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => {
    const at = source.indexOf(`${quote}${title}${quote}`);
    return at >= 0 && /\b(?:test|describe)\(\s*$/.test(source.slice(0, at));
  });
}
