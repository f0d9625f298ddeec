/** The checks of the layers, each against a tree that breaks it. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { browserTypeErrors } from './browser-types.ts';
import { checkTree } from './check-tree.ts';

/** A tree of these files, gone after the test. */
function treeOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'layers-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function problemsOf(t: TestContext, files: Readonly<Record<string, string>>): readonly string[] {
  return checkTree(treeOf(t, files)).problems;
}

const DECIDE = 'virt-handler/vmi/decide.ts';
const BESIDE = 'virt-handler/vmi/beside.ts';
const DECIDES_BY_BESIDE = { [DECIDE]: "import { beside } from './beside.ts';\nexport const decide = beside;\n" };

test('a pure file may reach what is pure', (t) => {
  const files = {
    ...DECIDES_BY_BESIDE,
    [BESIDE]: "export { add as beside } from '../../base/add.ts';\n",
    'base/add.ts': 'export const add = 1;\n',
  };
  assert.deepEqual(problemsOf(t, files), []);
});

const IMPURE: readonly [name: string, code: string, reason: string][] = [
  ['a module of Node', "import { readFileSync } from 'node:fs';\nexport const beside = readFileSync;", 'imports node:fs'],
  [
    'a socket of a module that has pure questions, too',
    "import { connect, isIP } from 'node:net';\nexport const beside = [connect, isIP];",
    'imports node:net',
  ],
  ['a clock', 'export const beside = () => Date.now();', 'uses Date.now'],
  ['the present time', 'export const beside = () => new Date();', 'uses new Date()'],
  ['chance', 'export const beside = () => Math.random();', 'uses Math.random'],
  ['random bytes', 'export const beside = () => crypto.randomUUID();', 'uses crypto'],
  ['the process', 'export const beside = process.env;', 'uses process'],
  ['the process in a template', `export const beside = () => \`home: \${process.env}\`;`, 'uses process'],
  ['the network', 'export const beside = () => fetch("/");', 'uses fetch'],
  ['a timer', 'export const beside = () => setTimeout(() => 1, 1);', 'uses setTimeout'],
  ['what is awaited', 'export const beside = async () => 1;', 'uses async'],
];
for (const [name, code, reason] of IMPURE)
  test(`a pure file may not reach ${name} through the file beside it`, (t) => {
    assert.deepEqual(problemsOf(t, { ...DECIDES_BY_BESIDE, [BESIDE]: `${code}\n` }), [
      `src/${DECIDE}: is pure, but reaches ${BESIDE}, which ${reason}`,
    ]);
  });

test('a pure file may not reach a client, however long the way', (t) => {
  const files = {
    ...DECIDES_BY_BESIDE,
    [BESIDE]: "export * from './far.ts';\n",
    'virt-handler/vmi/far.ts': "import '../../client/client.ts';\nexport const beside = 1;\n",
    'client/client.ts': 'export const client = 1;\n',
  };
  const way = `${BESIDE} -> virt-handler/vmi/far.ts -> client/client.ts`;
  assert.deepEqual(problemsOf(t, files), [`src/${DECIDE}: is pure, but reaches ${way}, which is in client`]);
});

test('a pure file may not use these itself', (t) => {
  assert.deepEqual(problemsOf(t, { 'api/when.ts': 'export const when = Date.now();\n' }), ['src/api/when.ts: is pure, but uses Date.now']);
});

test('an import of types alone reaches nothing, one that also names types does', (t) => {
  const files = {
    [BESIDE]: 'export type Beside = number;\nexport const beside = Date.now();\n',
    [DECIDE]: "import type { Beside } from './beside.ts';\nexport const decide: Beside = 1;\n",
  };
  assert.deepEqual(problemsOf(t, files), []);
  const also = { ...files, [DECIDE]: "import { beside, type Beside } from './beside.ts';\nexport const decide: Beside = beside;\n" };
  assert.equal(problemsOf(t, also).length, 1);
});

test('comments, texts, patterns and keys are no code', (t) => {
  const lines = [
    '// process.exit() /* Date.now() */',
    `export const texts = ['process.exit(', "it's fetch()", \`await \${1} /* \`];`,
    "export const pattern = /'process.env`/.test('') && 4 / 2 / 1;",
    'export type Keys = { readonly process: number; console?: string };',
    'export const keys = { process: 1, fetch: 2 }.process;',
    "/** import { x } from 'node:fs'; */",
  ];
  assert.deepEqual(problemsOf(t, { [DECIDE]: `${lines.join('\n')}\n` }), []);
});

test('what comes after a text that looks like a comment is code', (t) => {
  assert.equal(problemsOf(t, { [DECIDE]: "export const glob = 'src/**/*.ts';\nexport const now = Date.now();\n/* */\n" }).length, 1);
  assert.equal(problemsOf(t, { [DECIDE]: "export const url = ['https://x', Date.now()];\n" }).length, 1);
});

test('layers, packages, circles and lengths are checked', (t) => {
  const files = {
    'virt-api/a.ts': "import '../virt-handler/b.ts';\nimport 'ws';\nimport 'left-pad';\nimport 'typebox';\nimport './absent.ts';\n",
    'virt-handler/b.ts': "import './c.ts';\n",
    'virt-handler/c.ts': "import './b.ts';\n",
    'virt-handler/long.ts': '\n'.repeat(401),
    'base/needs-node.ts': "import 'node:fs';\n",
    'elsewhere/d.ts': '',
  };
  assert.deepEqual(problemsOf(t, files), [
    'src/base/needs-node.ts: base must run in a browser, found node:fs',
    'src/elsewhere/d.ts: elsewhere is not in the layer table',
    'src/virt-api/a.ts: virt-api may not import virt-handler (virt-handler/b.ts)',
    'src/virt-api/a.ts: package left-pad is not in the table',
    'src/virt-api/a.ts: package typebox belongs to api, not to virt-api',
    'src/virt-api/a.ts: imports virt-api/absent.ts, which is not there',
    'src/virt-handler/long.ts: 401 lines, the cap is 400',
    'src/virt-handler/b.ts: imports go in a circle: virt-handler/b.ts -> virt-handler/c.ts -> virt-handler/b.ts',
  ]);
});

test('what one file alone may use is used nowhere else', (t) => {
  const code = 'export const late = (ms: number) => AbortSignal.timeout(ms);\n';
  assert.deepEqual(problemsOf(t, { 'base/timeout-signal.ts': code, 'base/other.ts': code, 'base/other.test.ts': code }), [
    'src/base/other.ts: uses AbortSignal.timeout, which is for base/timeout-signal.ts alone',
  ]);
});

test('a folder that runs in a browser may use no global of Node, its corner for Node may', (t) => {
  const uses =
    'export const all = [process.pid, Buffer.from([]), __dirname, setImmediate, import.meta.dirname];\nexport type Timer = NodeJS.Timeout;\n';
  const safe = 'export const safe = [fetch, setTimeout(() => undefined, 1), crypto.subtle, new TextEncoder()];\n';
  const root = treeOf(t, {
    'package.json': '{ "type": "module" }',
    'base/uses.ts': uses,
    'base/node/uses.ts': uses,
    'client/safe.ts': safe,
    'reconcile/uses.test.ts': uses,
  });
  const errors = browserTypeErrors(root).map((line) => /(\w+)\.ts\((\d+),\d+\).*?'(\w+)'/.exec(line)?.slice(1) ?? line);
  assert.deepEqual(errors, [
    ['uses', '1', 'process'],
    ['uses', '1', 'Buffer'],
    ['uses', '1', '__dirname'],
    ['uses', '1', 'setImmediate'],
    ['uses', '1', 'dirname'],
    ['uses', '2', 'NodeJS'],
  ]);
});
