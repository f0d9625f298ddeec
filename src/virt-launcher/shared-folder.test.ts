import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { claimMount } from '../api/launcher/mounts.ts';
import { SANDBOX_VARIABLE } from '../base/node/sandbox-path.ts';
import { refuseSharedFolder, sharedFolderAt } from './shared-folder.ts';

const sandbox = mkdtempSync(join(tmpdir(), 'sandbox-'));
after(() => rmSync(sandbox, { recursive: true }));
const env = { [SANDBOX_VARIABLE]: sandbox };

function mounted(name: string, kind: string): void {
  const path = join(sandbox, claimMount(name).mountPath);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(`../../../volumes/kubernetes.io~${kind}/${name}`, path);
}
mounted('both', 'shared-folder');
mounted('seen', 'shared-folder-read-only');
mounted('disk', 'local-volume');

test('the place of a volume says what it is shared as', () => {
  assert.deepEqual(
    ['both', 'seen', 'disk', 'none'].map((name) => sharedFolderAt(name, env)),
    ['shared-folder', 'shared-folder-read-only', undefined, undefined],
  );
});

test('a folder of the host is no place for a disk', () => {
  for (const name of ['both', 'seen']) assert.throws(() => refuseSharedFolder(name, env), { code: 'VOLUME_UNSUPPORTED' });
  refuseSharedFolder('disk', env);
});
