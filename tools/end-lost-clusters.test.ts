import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { endLostClusters } from './end-lost-clusters.ts';
import { setOwner } from './owned-folder.ts';

const OWNED_FOLDER = resolve(import.meta.dirname, 'owned-folder.ts');

test('the folder of a cluster goes when its owner has ended, and stays while it lives', (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'lost-clusters-'));
  t.after(() => rmSync(parent, { recursive: true }));
  const [lost, kept, foreign] = ['kubevirt-ts-e2e-lost', 'kubevirt-ts-e2e-kept', 'something-else'] as const;
  const folderOf = (name: string) => join(parent, name);
  for (const name of [lost, kept, foreign]) mkdirSync(join(folderOf(name), 'data'), { recursive: true });
  setOwner(folderOf(kept));
  const program = `import { setOwner } from ${JSON.stringify(OWNED_FOLDER)}; for (const folder of process.argv.slice(1)) setOwner(folder);`;
  spawnSync(process.execPath, ['--input-type=module', '-e', program, '--', folderOf(lost), folderOf(foreign)]);
  endLostClusters(parent);
  assert.deepEqual(readdirSync(parent).sort(), [kept, foreign]);
});
