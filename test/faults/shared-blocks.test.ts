/** On a real XFS, in a file: a snapshot of a PVC, and a disk that begins as another, share blocks with it, and neither changes with the other. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findProgram } from '../../src/base/node/find-program.ts';
import { copyFolder } from '../../src/control-plane/volumes/copy-folder.ts';
import { populateDisk } from '../../src/virt-launcher/populate-disk.ts';

const MIB = 2 ** 20;
const DISK = randomBytes(32 * MIB);
/** The smallest that mkfs.xfs makes. */
const FILE_SYSTEM_BYTES = 300 * MIB;

function whyNot(): string | false {
  if (process.getuid?.() !== 0) return 'only root can mount a file system';
  if (!findProgram('mkfs.xfs', `${process.env['PATH']}:/usr/sbin:/sbin`)) return 'there is no mkfs.xfs: apt-get install xfsprogs';
  return false;
}

/** Where it is, and how much of it is taken; undefined where the kernel has no XFS, or no loop devices. */
function xfs(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'shared-blocks-'));
  const [image, path] = [join(folder, 'image'), join(folder, 'mounted')];
  writeFileSync(image, '');
  truncateSync(image, FILE_SYSTEM_BYTES);
  mkdirSync(path);
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  execFileSync('mkfs.xfs', ['-q', '-m', 'reflink=1', image], { env });
  const { status, stderr } = spawnSync('mount', ['-o', 'loop', image, path], { env, encoding: 'utf8' });
  t.after(() => {
    if (status === 0) execFileSync('umount', [path]);
    rmSync(folder, { recursive: true });
  });
  if (status !== 0) return t.skip(`no XFS can be mounted here: ${stderr.trim()}`);
  const takenBytes = () => {
    execFileSync('sync', ['-f', path]);
    const { blocks, bfree, bsize } = statfsSync(path);
    return (blocks - bfree) * bsize;
  };
  return { path, takenBytes };
}

function overwrite(path: string, text: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, text, MIB);
  closeSync(file);
}

/** That neither has what was written to the other. */
function assertIndependent(first: string, second: string): void {
  overwrite(first, 'one');
  overwrite(second, 'another');
  const at = (path: string) => readFileSync(path).toString('latin1', MIB, MIB + 7);
  assert.deepEqual([at(first).slice(0, 3), at(second)], ['one', 'another']);
  const rest = (path: string) => readFileSync(path).subarray(2 * MIB, DISK.length);
  assert.ok(rest(first).equals(DISK.subarray(2 * MIB)) && rest(second).equals(DISK.subarray(2 * MIB)));
}

test('copies on XFS share their blocks and are independent', { skip: whyNot() }, async (t) => {
  const mounted = xfs(t);
  if (!mounted) return;
  const { path, takenBytes } = mounted;
  const [claim, kept, other] = [join(path, 'claim'), join(path, 'kept'), join(path, 'other')];
  for (const folder of [claim, other]) mkdirSync(folder);
  writeFileSync(join(claim, 'disk.img'), DISK);
  const before = takenBytes();

  await copyFolder({ from: claim, into: kept, signal: new AbortController().signal });
  assert.ok(takenBytes() - before < 4 * MIB, `a snapshot of 32 MiB takes ${(takenBytes() - before) / MIB} MiB`);
  assertIndependent(join(claim, 'disk.img'), join(kept, 'disk.img'));

  writeFileSync(join(claim, 'disk.img'), DISK);
  const start = takenBytes();
  const from = openSync(join(claim, 'disk.img'), 'r');
  populateDisk({
    from,
    facts: { format: 'raw', sizeBytes: DISK.length },
    image: 'x',
    folder: other,
    unfinished: join(other, 'x'),
    sizeBytes: 64 * MIB,
  });
  closeSync(from);
  assert.ok(takenBytes() - start < 4 * MIB, `a disk that begins as one of 32 MiB takes ${(takenBytes() - start) / MIB} MiB`);
  assertIndependent(join(claim, 'disk.img'), join(other, 'disk.img'));
});
