import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../base/node/process-identity.ts';
import { statePath } from './paths.ts';
import { lastState, runningState } from './state.ts';

test('no cluster is told of by a file that no cluster wrote, or not to its end', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'state-'));
  t.after(() => rmSync(home, { recursive: true }));
  assert.equal(lastState(home), undefined);
  mkdirSync(join(home, 'run'));
  const whole = JSON.stringify({ process: identify(process.pid), port: 6443, startedAt: '', version: '' });
  for (const text of [
    '',
    '\0\0\0',
    'null',
    '{}',
    '[1,"x",null]',
    '"x"',
    '{"port":6443}',
    '{"port":6443,"process":null}',
    whole.slice(0, 40),
  ]) {
    writeFileSync(statePath(home), text);
    assert.equal(runningState(home), undefined, text);
  }
  writeFileSync(statePath(home), whole);
  assert.equal(runningState(home)?.port, 6443);
});
