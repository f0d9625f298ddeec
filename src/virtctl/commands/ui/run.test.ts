import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

test('a port that is none, and a page that was not built, are said before anything listens', async () => {
  const answers = { 'GET /version': { gitVersion: 'v1' } };
  await assert.rejects(run(testDeps(answers).deps, { open: false }), { code: 'UI_MISSING' });
  await assert.rejects(run(testDeps(answers).deps, { open: false, port: 70_000 }), { code: 'USAGE' });
});

test('a cluster that does not answer is said here, not in a browser', async () => {
  await assert.rejects(run(testDeps().deps, { open: false }), /not found/);
});
