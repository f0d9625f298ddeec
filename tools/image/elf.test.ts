import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaderOf, neededLibraries } from './elf.ts';

test('the libraries and the loader of a program are those that it was linked with', () => {
  assert.ok(neededLibraries(process.execPath).includes('libc.so.6'));
  assert.match(loaderOf(process.execPath) ?? '', /^\/lib.*\/ld-linux.*\.so\.\d$/);
});

test('what is no program needs nothing', () => {
  assert.deepEqual(neededLibraries(import.meta.filename), []);
});
