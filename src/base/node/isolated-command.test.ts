import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../testing/until.ts';
import { isolatedCommand, whyNotIsolated } from './isolated-command.ts';

const isRoot = process.getuid?.() === 0;
const skip = (await whyNotIsolated()) ?? false;
const NOBODY = 65_534;
/** As root, and as an ordinary user, where it takes a namespace of users. */
const WAYS = isRoot ? (['root', 'an ordinary user'] as const) : (['an ordinary user'] as const);

/** A data folder with two guests; the first is the one that looks. */
function guests(t: TestContext, owner: number | undefined): { home: string; pods: string; own: string } {
  const home = mkdtempSync(join(tmpdir(), 'isolated '));
  t.after(() => rmSync(home, { recursive: true }));
  const pods = join(home, 'kubelet/pods');
  for (const name of ['a/volumes/public', 'b', '../../volumes']) mkdirSync(join(pods, name), { recursive: true });
  for (const name of ['a/volumes/public/own', 'b/secret']) writeFileSync(join(pods, name), name);
  chmodSync(home, 0o755);
  if (owner !== undefined) for (const path of ['a/volumes/public', 'a/volumes/public/own']) chownSync(join(pods, path), owner, owner);
  return { home, pods, own: join(pods, 'a/volumes/public') };
}

for (const way of WAYS) {
  const asUser = way === 'an ordinary user';
  const user = asUser ? undefined : { uid: 4321, gid: 4321, groups: [4322] };
  const ids = asUser && isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const command = (script: string, { home, pods, own }: ReturnType<typeof guests>) =>
    isolatedCommand(['/bin/sh', '-c', script], { folder: own, hidden: [pods, home], user });

  test(`started by ${way} it sees its own folder, and neither other folders nor other processes`, { skip }, (t) => {
    const at = guests(t, asUser ? (isRoot ? NOBODY : undefined) : 4321);
    const script = `cat own; echo x > new && echo written; ls -A '${at.home}' '${at.pods}' ../../.. ../../../b; echo /proc/[0-9]*; grep -h Cap /proc/self/status; id -u; id -G`;
    const [program = '', ...args] = command(script, at);
    const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: '/', ...ids });
    assert.doesNotMatch(`${stdout}${stderr}`, /secret|kubelet\n|^volumes/m);
    assert.match(stdout, /^a\/volumes\/public\/ownwritten$/m, stderr);
    assert.match(stdout, /^\/proc\/1( \/proc\/\d+){0,2}$/m);
    assert.deepEqual([...new Set([...stdout.matchAll(/^Cap\w+:\s+(\w+)$/gm)].map(([, bits]) => bits))], ['0000000000000000']);
    if (user) assert.match(stdout, /^4321\n4321 4322$/m);
    assert.equal(readFileSync(join(at.own, 'new'), 'utf8'), 'x\n');
  });

  test(`started by ${way} it ends as the program ends, and the program with it`, { skip }, async (t) => {
    const at = guests(t, asUser ? (isRoot ? NOBODY : undefined) : 4321);
    const [program = '', ...args] = command('exit 42', at);
    assert.equal(spawnSync(program, args, { cwd: '/', ...ids }).status, 42);
    const [, ...sleeping] = command('exec sleep 60', at);
    for (const [whom, expected] of [
      ['the program', [137, null]],
      ['the first process of its namespace', undefined], // as the version of unshare has it
      ['who waits for it', [null, 'SIGKILL']],
    ] as const) {
      const child = spawn(program, sleeping, { cwd: '/', detached: true, stdio: 'ignore', ...ids });
      const waiting = child.pid ?? 0;
      const first = () => childrenOf(waiting)[0] ?? 0;
      const pid = () => childrenOf(first())[0] ?? 0;
      await until(() => nameOf(pid()) === 'sleep', 'the program');
      const sleep = pid();
      const ended = once(child, 'exit');
      process.kill({ 'the program': sleep, 'the first process of its namespace': first(), 'who waits for it': waiting }[whom], 'SIGKILL');
      const end = await ended;
      if (expected) assert.deepEqual(end, expected, whom);
      await until(() => nameOf(sleep) !== 'sleep', 'its end');
    }
  });
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
