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

/** What can be attacked here: a new way in is a line, and then a row of the page. */
const WAYS_IN = [
  [
    'containerDisk',
    'PVC',
    'shared folder',
    'compression and tar bombs',
    'catalogue',
    'URL of an import',
    'export',
    'upload',
    'backup',
    'memory dump',
    'saved memory',
  ],
  [
    'hotplugged',
    'copy out of another namespace',
    'moving of a machine',
    'memory and disks of a machine on their way',
    'VolumeSnapshots',
    'console',
  ],
  [
    'X-Remote-',
    'certificate',
    'tokens',
    'token of a virt-handler',
    'web page',
    'DNS rebinding',
    'JSON patches',
    'managedFields',
    'slow-loris',
    'webhooks',
    'agent',
    'npm package',
  ],
].flat();

for (const way of WAYS_IN)
  test(`docs/security.md says what holds against ${way}`, () => {
    assert.ok(ROWS.some(([attack = '']) => attack.includes(way)));
  });

const FAULTS = [
  [
    'kill -9',
    'power cut',
    'a byte of a record',
    'disk is full',
    'EIO',
    'a watch is cut',
    'clock',
    'asleep',
    'QEMU is killed',
    'hangs',
    'panics',
    'power button',
  ],
  [
    'the host reboots',
    'a disk is bad',
    'a registry',
    'import',
    'upload',
    'export',
    'suspended',
    'backup',
    'gets full',
    'a move',
    'certificates',
    'a node is lost',
  ],
].flat();
const FAULT_ROWS = readFileSync('docs/reliability.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| .*\]\(/.test(line));

for (const fault of FAULTS)
  test(`docs/reliability.md says what you get, and where that is tried: ${fault}`, () => {
    assert.ok(FAULT_ROWS.some((row) => row.split(' | ')[0]?.includes(fault)));
  });

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
