import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { confinedCommand, whyNotConfined } from './confined-command.ts';

const isRoot = process.getuid?.() === 0;
const skip = (await whyNotConfined(['/bin/true'])) ?? false;
const NOBODY = 65_534;

for (const asUser of isRoot ? [false, true] : [true])
  test(`confined by ${asUser ? 'an ordinary user' : 'root'} a program has what is open, and no other file, process or network`, {
    skip,
  }, (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'confined '));
    t.after(() => rmSync(dir, { recursive: true }));
    const [open, other] = [join(dir, 'open'), join(dir, 'other')];
    for (const path of [open, other]) writeFileSync(path, path);
    if (isRoot && asUser) for (const path of [dir, open, other]) chownSync(path, NOBODY, NOBODY);
    chmodSync(dir, 0o700);
    const script = `cat /proc/self/fd/3; echo new >/proc/self/fd/3
      for path in '${other}' '${process.execPath}.no' /etc/passwd /root /home /var /run /sys; do [ ! -e "$path" ] || echo "sees $path"; done
      echo x 2>/dev/null >/usr/x && echo writes; echo x 2>/dev/null >/x && echo writes
      echo; echo /proc/[0-9]*; tail -n +3 /proc/net/dev; grep CapEff /proc/self/status`;
    const [program = '', ...args] = confinedCommand(['/bin/sh', '-c', script], !asUser);
    const file = openSync(open, 'r+');
    const ids = isRoot && asUser ? { uid: NOBODY, gid: NOBODY } : {};
    const { stdout, stderr, status } = spawnSync(program, args, {
      encoding: 'utf8',
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe', file],
      ...ids,
    });
    closeSync(file);
    assert.match(stdout, new RegExp(`^${open}\n/proc/1( /proc/\\d+){0,2}\n +lo: .*\nCapEff:\t${asUser ? '0{16}' : '0{15}2'}\n$`), stderr);
    assert.deepEqual([status, readFileSync(open, 'utf8').startsWith('new\n')], [0, true]);
  });

test('a program that it does not find is a reason against it', async () => {
  assert.match((await whyNotConfined(['/nowhere/program'])) ?? '', /./);
});
