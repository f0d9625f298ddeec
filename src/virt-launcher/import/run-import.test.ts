/** virt-importer as a process, in a Pod of the embedded cluster: folders that only root gets to, and a user of the Pod's own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IMPORT_VARIABLE, type ImportTask, SOURCE_MOUNT, TARGET_MOUNT } from '../../api/importer/importer-pod.ts';
import { RUN_AS_VARIABLES } from '../../api/launcher/variables.ts';
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';

const PROGRAM = resolve(import.meta.dirname, '../../../bin/virt-importer');
const isRoot = process.getuid?.() === 0;
const [USER, GROUP] = [1_900_000_001, 1_950_000_001];
const MIB = 2 ** 20;

function pod(t: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'importer-')); // 0700: closed to the user of the Pod
  t.after(() => rmSync(base, { recursive: true }));
  const [claim, source, sandbox] = ['claim', 'source', 'sandbox'].map((name) => join(base, name)) as [string, string, string];
  for (const [folder, mount] of [
    [claim, TARGET_MOUNT],
    [source, SOURCE_MOUNT],
  ] as const) {
    mkdirSync(folder);
    if (isRoot) chownSync(folder, 0, GROUP);
    chmodSync(folder, 0o2770);
    const path = join(sandbox, mount.mountPath);
    mkdirSync(join(path, '..'), { recursive: true });
    symlinkSync(folder, path);
  }
  const run = (task: ImportTask) => {
    const env = {
      PATH: process.env['PATH'],
      NODE: process.execPath,
      [SANDBOX_VARIABLE]: sandbox,
      [IMPORT_VARIABLE]: JSON.stringify(task),
      ...(isRoot && { [RUN_AS_VARIABLES.user]: `${USER}`, [RUN_AS_VARIABLES.group]: `${USER}`, [RUN_AS_VARIABLES.groups]: `${GROUP}` }),
    };
    const { status, stdout, stderr } = spawnSync(PROGRAM, [], { env, encoding: 'utf8', cwd: sandbox });
    return { status, last: `${stdout}${stderr}`.trim().split('\n').at(-1) ?? '' };
  };
  return { claim, source, run };
}

test('a PVC is filled from another by the user of the Pod, who gets to neither by a path', (t) => {
  const { claim, source, run } = pod(t);
  writeFileSync(join(source, 'disk.img'), Buffer.alloc(MIB, 'x'), { mode: 0o640 });
  if (isRoot) chownSync(join(source, 'disk.img'), 0, GROUP);
  assert.deepEqual(run({ from: 'pvc', sizeBytes: 2 * MIB }), { status: 0, last: 'the volume is filled' });
  const { size, uid } = statSync(join(claim, 'disk.img'));
  assert.deepEqual(
    [size, uid, readFileSync(join(claim, 'disk.img.format'), 'utf8')],
    [2 * MIB, isRoot ? USER : process.getuid?.(), 'raw\n'],
  );
});

test('the disk of an image that only root can read is copied', (t) => {
  const { claim, source, run } = pod(t);
  mkdirSync(join(source, 'disk'), { mode: 0o700 });
  writeFileSync(join(source, 'disk/disk.img'), Buffer.alloc(MIB, 'x'), { mode: 0o600 });
  const task = { from: 'registry', image: 'an/image', isMounted: true, sizeBytes: 2 * MIB } as const;
  assert.deepEqual(run(task), { status: 0, last: 'the volume is filled' });
  assert.equal(statSync(join(claim, 'disk.img')).size, 2 * MIB);
});

test('an address of this machine is refused, and the last line says so', (t) => {
  const { claim, run } = pod(t);
  const { status, last } = run({ from: 'http', url: 'http://127.0.0.1:1/disk', sizeBytes: 2 * MIB });
  assert.notEqual(status, 0);
  assert.match(last, /^error\[ADDRESS_REFUSED\]: .*that is this machine or its own link/);
  assert.equal(existsSync(join(claim, 'disk.img')), false);
});

test('what it cannot do on its PVC is told with its reason', (t) => {
  const { claim, run } = pod(t);
  if (!isRoot) return t.skip('only root closes a folder to another user');
  chmodSync(claim, 0o2750);
  assert.match(run({ from: 'pvc', sizeBytes: 2 * MIB }).last, /^error\[\w+\]: .*EACCES/);
});
