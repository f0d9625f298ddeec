import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findCgroups, foldersOf, joinWords, makeCgroup, ranOutOfMemory, removeCgroups, tryCgroups } from './cgroups.ts';

/** Folders with files as the kernel shows them in cgroups. */
function tree(t: TestContext, cgroups: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'cgroup-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, controllers] of Object.entries(cgroups)) {
    mkdirSync(join(root, path), { recursive: true });
    for (const [file, text] of [
      ['cgroup.controllers', controllers],
      ['cgroup.procs', ''],
      ['cgroup.subtree_control', controllers],
    ] as const)
      writeFileSync(join(root, path, file), text);
  }
  return root;
}

test('of version 1, each controller has a tree of its own, and root makes cgroups at the top of it', (t) => {
  const root = tree(t, { cpu: '', memory: '', pids: '' });
  const mounts = ['cpu,cpuacct', 'memory', 'freezer']
    .map((name) => `cgroup ${root}/${name.split(',')[0]} cgroup rw,${name} 0 0`)
    .join('\n');
  const found = findCgroups({ mounts, own: '4:memory:/x\n', isRoot: true });
  assert.deepEqual(found, { version: 1, parents: { cpu: join(root, 'cpu'), memory: join(root, 'memory') } });
});

test('of version 2, root has the top and an ordinary user the nearest one that is his', (t) => {
  const root = tree(t, { '': 'cpuset cpu io memory pids\n', 'user/app': 'memory pids\n' });
  const ask = (isRoot: boolean) => findCgroups({ mounts: `none ${root} cgroup2 rw 0 0`, own: '0::/user/app/shell.scope\n', isRoot });
  assert.deepEqual(ask(true), { version: 2, parents: { cpu: root, memory: root, pids: root } });
  const app = join(root, 'user/app');
  assert.deepEqual(ask(false), { version: 2, parents: { memory: app, pids: app } });
});

test('where there are none, the reason is said', (t) => {
  const root = tree(t, { '': 'misc\n' });
  assert.deepEqual(findCgroups({ mounts: 'proc /proc proc rw 0 0' }), { why: 'no cgroups are mounted' });
  assert.deepEqual(findCgroups({ mounts: `none ${root} cgroup2 rw 0 0`, own: '0::/\n', isRoot: true }), {
    why: 'the cgroup / has none of cpu, memory, pids',
  });
  const nobodys = { mounts: 'none /nowhere cgroup2 rw 0 0', own: '0::/a\n', isRoot: true };
  assert.deepEqual(findCgroups(nobodys), { why: 'the cgroup /a is not delegated to this user' });
});

test('of version 2, those above hand the controllers down, and the limits are in its own words', (t) => {
  const root = tree(t, { '': 'cpu memory pids\n' });
  const cgroups = { version: 2, parents: { cpu: root, memory: root, pids: root } } as const;
  const folders = foldersOf(cgroups, ['node', 'one']);
  makeCgroup(cgroups, folders, { pids: 7, memoryBytes: 2 ** 20, cores: 0.5 });
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  assert.deepEqual(folders, [join(root, 'node/one')]);
  assert.equal(read('node/cgroup.subtree_control'), '+cpu +memory +pids');
  assert.deepEqual(
    ['pids.max', 'memory.max', 'cpu.max'].map((file) => read(`node/one/${file}`)),
    ['7', '1048576', '50000 100000'],
  );
  writeFileSync(join(root, 'node/one/memory.events'), 'low 0\noom 3\noom_kill 2\n');
  assert.equal(ranOutOfMemory(folders), true);
});

const here = tryCgroups();

test('a process that joins is held to the limit, and nothing is left', { skip: 'why' in here && here.why }, () => {
  if ('why' in here) return;
  const folders = foldersOf(here, [`kubevirt-ts-test-${process.pid}`]);
  makeCgroup(here, folders, { pids: 100, memoryBytes: 16 * 2 ** 20 });
  const [program = '', ...args] = [...joinWords(folders), 'tail', '/dev/zero'];
  assert.equal(spawnSync(program, args).signal, 'SIGKILL');
  assert.equal(ranOutOfMemory(folders), true);
  assert.equal(removeCgroups(folders), true);
  assert.deepEqual(folders.filter(existsSync), []);
});
