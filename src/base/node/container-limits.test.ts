import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { processLimit, whyNoCgroups } from './container-limits.ts';

/** A folder as the kernel shows one: our own cgroup with these controllers. */
function cgroups(t: TestContext, controllers: string | undefined): { root: string; own: string } {
  const root = mkdtempSync(join(tmpdir(), 'cgroup-'));
  t.after(() => rmSync(root, { recursive: true }));
  if (controllers === undefined) return { root, own: '3:memory:/x\n0::/\n' };
  mkdirSync(join(root, 'ours'));
  writeFileSync(join(root, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');
  writeFileSync(join(root, 'ours', 'cgroup.controllers'), controllers);
  writeFileSync(join(root, 'ours', 'cgroup.procs'), '');
  return { root, own: '0::/ours\n' };
}

test('version 1, and both versions side by side, are no use', (t) => {
  assert.match(whyNoCgroups(cgroups(t, undefined)) ?? '', /version 2 are not what is mounted/);
});

test('a cgroup with all controllers will do', (t) => {
  assert.equal(whyNoCgroups(cgroups(t, 'cpu memory pids\n')), undefined);
});

test('a controller that is missing is named', (t) => {
  assert.equal(whyNoCgroups(cgroups(t, 'memory pids\n')), 'the cgroup /ours has no cpu');
});

test('a cgroup of somebody else is not ours to use', (t) => {
  const { root } = cgroups(t, 'cpu memory pids\n');
  assert.equal(whyNoCgroups({ root, own: '0::/theirs\n' }), 'the cgroup /theirs is not delegated to this user');
});

test('a container has no more processes than we may have', () => {
  const limits = (hard: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax processes             100                 ${hard}              processes \n`;
  assert.deepEqual(
    ['unlimited', '95000', '900'].map((hard) => processLimit(limits(hard))),
    [4096, 4096, 900],
  );
});
