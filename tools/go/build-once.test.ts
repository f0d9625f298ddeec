import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { UserError } from '../../src/base/errors.ts';
import { buildOnce, findGoProgram, type GoProgram } from './build-once.ts';

/** A compiler that says in a file how often it was asked, and puts a file where the program should be. */
const COMPILER = `#!/bin/sh
[ "$1" = version ] && exit 0
echo built >> "$BUILDS"
while [ "$1" != -o ]; do shift; done
echo program > "$2"
`;

let program: GoProgram;
let builds: () => number;
beforeEach((t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-go-'));
  const before = { ...process.env };
  if ('after' in t)
    t.after(() => {
      process.env = before;
      rmSync(folder, { recursive: true });
    });
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'source'));
  writeFileSync(join(folder, 'bin/go'), COMPILER, { mode: 0o755 });
  writeFileSync(join(folder, 'source/go.mod'), 'module a\n');
  Object.assign(process.env, {
    PATH: `${folder}/bin:/usr/bin:/bin`,
    KUBEVIRT_CACHE: join(folder, 'cache'),
    BUILDS: join(folder, 'builds'),
  });
  program = { name: 'a', version: 'v1', source: join(folder, 'source'), package: '.', variables: {}, takes: 'a moment' };
  builds = () => (existsSync(join(folder, 'builds')) ? readFileSync(join(folder, 'builds'), 'utf8').split('\n').length - 1 : 0);
});

test('a program is built once, and again when its sources change', () => {
  assert.equal(findGoProgram(program), undefined);
  const folder = buildOnce(program);
  assert.deepEqual([buildOnce(program), findGoProgram(program), readdirSync(folder), builds()], [folder, folder, ['a'], 1]);
  writeFileSync(join(program.source, 'go.sum'), 'a v2\n');
  assert.notEqual(buildOnce(program), folder);
  assert.equal(builds(), 2);
});

test('a build that cannot be finished leaves nothing', () => {
  const fail = () => {
    throw new Error('no names');
  };
  assert.throws(() => buildOnce(program, fail), /no names/);
  assert.deepEqual(readdirSync(join(process.env['KUBEVIRT_CACHE'] ?? '', 'a')), []);
});

test('without Go the answer is what to install', () => {
  process.env['PATH'] = '/nowhere';
  assert.throws(
    () => buildOnce(program),
    (error) => error instanceof UserError && error.code === 'GO_MISSING' && error.exitCode === 7,
  );
});
