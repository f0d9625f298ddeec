import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { containerDir } from './pod-folder.ts';
import { loadContainer, saveContainer } from './state-file.ts';

test('of a record that is not what was written nothing is believed: somebody has to look for a process', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'state-file-'));
  t.after(() => rmSync(dir, { recursive: true }));
  mkdirSync(containerDir(dir, 'compute'), { recursive: true });
  const process = { pid: 1, startTime: '2', bootId: '3' };
  const container = {
    name: 'compute',
    isInit: false,
    restartCount: 4,
    crashes: 5,
    run: { is: 'running', process, startedAtMs: 6 },
  } as const;
  assert.equal(loadContainer(dir, 'compute', false), undefined);
  saveContainer(dir, container);
  assert.deepEqual(loadContainer(dir, 'compute', false), { container, isStarting: false });
  for (const text of ['', '{}', 'null', '[]', '"x"', '{"pid":1,"startT', '\0\0']) {
    writeFileSync(join(containerDir(dir, 'compute'), 'state.json'), text);
    assert.equal(loadContainer(dir, 'compute', false)?.isStarting, true, text);
  }
});
