import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { headerFor } from './single-file.ts';

const NAME = `kubevirt-ts-1.2.3-linux-${process.arch}`;

/** The header before an archive whose programs only say what they were called with. */
function singleFile(name: string): { folder: string; call: (path?: string, ...args: string[]) => { status: number | null; said: string } } {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-single-'));
  mkdirSync(join(folder, 'stage/bin'), { recursive: true });
  for (const program of ['virtctl', 'vmctl']) {
    writeFileSync(join(folder, 'stage/bin', program), `#!/bin/sh\necho ${program} "$@"\n`);
    chmodSync(join(folder, 'stage/bin', program), 0o755);
  }
  const archive = execFileSync('tar', ['-C', join(folder, 'stage'), '-cz', '.']);
  writeFileSync(join(folder, 'file'), Buffer.concat([Buffer.from(headerFor({ name, sha256: 'ab'.repeat(32) })), archive]), { mode: 0o755 });
  symlinkSync('file', join(folder, 'vmctl'));
  const call = (path = 'file', ...args: string[]) => {
    const env = { PATH: process.env['PATH'], KUBEVIRT_CACHE: join(folder, 'cache') };
    const { status, stdout, stderr } = spawnSync(join(folder, path), args, { encoding: 'utf8', env });
    return { status, said: stdout + stderr };
  };
  return { folder, call };
}

test('the file unpacks itself once, runs virtctl, and by a link another program', (t) => {
  const { folder, call } = singleFile(NAME);
  t.after(() => rmSync(folder, { recursive: true }));
  assert.deepEqual(call('file', 'version', '--client'), { status: 0, said: 'virtctl version --client\n' });
  assert.deepEqual(readdirSync(join(folder, 'cache/releases')), [`${NAME}-${'ab'.repeat(6)}`]);
  assert.deepEqual(call('vmctl', 'x'), { status: 0, said: 'vmctl x\n' });
});

test('the program knows the file as what people call, not the copy in the cache', (t) => {
  const { folder } = singleFile(NAME);
  t.after(() => rmSync(folder, { recursive: true }));
  const env = { PATH: process.env['PATH'], KUBEVIRT_CACHE: join(folder, 'cache') };
  assert.equal(spawnSync(join(folder, 'file'), ['version'], { env }).status, 0); // unpacks it
  const [release = ''] = readdirSync(join(folder, 'cache/releases'));
  writeFileSync(join(folder, 'cache/releases', release, 'bin/virtctl'), '#!/bin/sh\necho "$VIRTCTL_FILE"\n');
  for (const [program, cwd] of [
    [join(folder, 'file'), '/'],
    ['./file', folder],
  ] as const)
    assert.match(spawnSync(program, [], { env, cwd, encoding: 'utf8' }).stdout, new RegExp(`^${realpathSync(folder)}/(\\./)?file\n$`));
});

test('a damaged file says so and leaves nothing half unpacked', (t) => {
  const { folder, call } = singleFile(NAME);
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file'), readFileSync(join(folder, 'file')).subarray(0, -40));
  const { status, said } = call();
  assert.equal(status, 7);
  assert.match(
    said,
    /error\[UNPACK_FAILED\]: .* cannot be unpacked\nwhy: the file is damaged, or the disk is full\nfix: sha256sum --check SHA256SUMS\n/,
  );
  assert.deepEqual(readdirSync(join(folder, 'cache/releases')), []);
});

test('the file for another processor says which one it is for', (t) => {
  const { folder, call } = singleFile(NAME.replace(process.arch, process.arch === 'x64' ? 'arm64' : 'x64'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { status, said } = call();
  assert.equal(status, 7);
  assert.match(said, /^error\[HOST_UNSUPPORTED\]: this file is for Linux on (aarch64|x86_64), not for Linux on/);
});
