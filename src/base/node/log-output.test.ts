import assert from 'node:assert/strict';
import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLogOutput } from './log-output.ts';

const nobody = () => assert.fail('it is a file');

test('a file has a limit, and what came before is kept once beside it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  const path = join(folder, 'a.log');
  const fd = openSync(path, 'a');
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const write = createLogOutput(fd, nobody, 1000);
  for (let n = 0; n < 500; n += 1) write(`line ${n} ${'x'.repeat(40)}`);
  assert.ok(statSync(path).size <= 2100, `${statSync(path).size}`);
  assert.ok(statSync(`${path}.1`).size <= 2100);
  assert.match(readFileSync(`${path}.1`, 'utf8') + readFileSync(path, 'utf8'), /line 498 x+\nline 499 x+\n$/);
});

test('a disk that is full costs lines, not the program', (t) => {
  const fd = openSync('/dev/full', 'a');
  t.after(() => closeSync(fd));
  const write = createLogOutput(fd, nobody);
  assert.doesNotThrow(() => write('there is no room for this'));
});

test('a file that somebody has removed has a limit, too', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  const path = join(folder, 'a.log');
  const fd = openSync(path, 'a');
  t.after(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const write = createLogOutput(fd, nobody, 1000);
  rmSync(path);
  for (let n = 0; n < 500; n += 1) write(`line ${n} ${'x'.repeat(40)}`);
  assert.ok(fstatSync(fd).size <= 2100, `${fstatSync(fd).size}`);
  assert.deepEqual(readdirSync(folder), []);
});
