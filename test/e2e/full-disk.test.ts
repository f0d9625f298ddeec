import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSameProcess } from '../../src/base/node/process-identity.ts';
import { EmbeddedCluster } from './harness.ts';

const MEBIBYTE = 2 ** 20;
const isRoot = process.getuid?.() === 0;

/** A data folder on a small disk of its own. */
class SmallDiskCluster extends EmbeddedCluster {
  constructor(mebibytes: number) {
    super();
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0711`, 'tmpfs', this.home]);
  }

  /** Until not one more byte fits. */
  fill(): void {
    const fd = openSync(join(this.home, 'filler'), 'a');
    try {
      for (const size of [MEBIBYTE, 4096, 1]) for (;;) if (!wrote(fd, size)) break;
    } finally {
      closeSync(fd);
    }
  }

  makeRoom(): void {
    rmSync(join(this.home, 'filler'));
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    rmSync(join(this.home, 'filler'), { force: true });
    await this.virtctl(['down']);
    execFileSync('umount', ['-l', this.home]);
    await super[Symbol.asyncDispose]();
  }
}

function wrote(fd: number, size: number): boolean {
  try {
    return writeSync(fd, Buffer.alloc(size)) > 0;
  } catch {
    return false;
  }
}

test('a full disk stops writes and nothing else', { skip: isRoot ? false : 'only root can mount a small disk' }, async (t) => {
  await using cluster = new SmallDiskCluster(400);

  await t.test('up is one error with a fix', async () => {
    cluster.fill();
    const { code, stderr } = await cluster.virtctl(['up']);
    assert.notEqual(code, 0);
    assert.match(stderr, /error\[DISK_FULL\].*fix: free some space/s);
    assert.doesNotMatch(stderr, /\n {4}at /);
    cluster.makeRoom();
  });

  await cluster.must('virtctl', ['up']);
  const identity = JSON.parse(readFileSync(join(cluster.home, 'run/embedded.json'), 'utf8')).process;
  await cluster.must('kubectl', ['create', 'configmap', 'before']);
  await cluster.must('kubectl', ['apply', '-f', 'examples/vm.yaml']);
  await cluster.until('vm/hello', '.status.ready', 'true');
  await using console = cluster.console('hello');
  await console.expect(/guest ready/);
  await console.login();
  const guests = cluster.guestPids();

  await t.test('reads, guests and consoles go on, writes answer 507 with a fix, the control plane stays', async () => {
    cluster.fill();
    const logBytes = statSync(join(cluster.home, 'logs/embedded.log')).size;
    const deadline = performance.now() + 25_000; // two renewals of every lease
    do {
      const { code, stderr } = await cluster.kubectl(['create', 'configmap', 'meanwhile']);
      assert.equal(code, 1);
      assert.match(stderr, /no space left.*free disk space/);
      await cluster.must('kubectl', ['get', 'configmap', 'before']);
      assert.ok(isSameProcess(identity), 'the control plane has ended');
      assert.match(await console.command('echo still $((1 + 1))'), /still 2/);
    } while (performance.now() < deadline);
    assert.ok(statSync(join(cluster.home, 'logs/embedded.log')).size < logBytes + 64 * 1024);
  });

  await t.test('an import is one error with a fix, and leaves nothing behind', async () => {
    const disk = join(cluster.home, '..', 'some-disk.raw');
    writeFileSync(disk, randomBytes(8 * MEBIBYTE));
    t.after(() => rmSync(disk, { force: true }));
    const { code, stderr } = await cluster.virtctl(['image', 'import', disk, 'localhost/some:1']);
    assert.notEqual(code, 0);
    assert.match(stderr, /error\[DISK_FULL\].*fix: free some space/s);
  });

  await t.test('everything goes on when there is room', async () => {
    cluster.makeRoom();
    await cluster.must('kubectl', ['create', 'configmap', 'after']);
    await cluster.must('kubectl', ['get', 'configmap', 'before', 'after']);
    assert.equal((await cluster.kubectl(['get', 'configmap', 'meanwhile'])).code, 1);
    assert.ok(isSameProcess(identity));
    assert.deepEqual(cluster.guestPids(), guests);
    await cluster.until('vm/hello', '.status.printableStatus', 'Running');
    await cluster.must('virtctl', ['status']);
  });

  await t.test('a cluster does not start again on a full disk, and says why', async () => {
    await cluster.must('virtctl', ['down']);
    cluster.fill();
    assert.match((await cluster.virtctl(['up'])).stderr, /error\[DISK_FULL\].*fix: free some space/s);
    assert.match((await cluster.virtctl(['doctor', '--store'])).stdout, /✗ store .*no space left[^✗]*fix: free some space/s);
    cluster.makeRoom();
  });

  await t.test('a folder in place of the store is one error with a fix', async () => {
    for (const part of ['', '-wal', '-shm']) rmSync(join(cluster.home, `store.db${part}`), { force: true });
    mkdirSync(join(cluster.home, 'store.db'));
    const { stderr } = await cluster.virtctl(['up']);
    assert.match(stderr, /error\[STORE_UNUSABLE\].*fix: /s);
    rmSync(join(cluster.home, 'store.db'), { recursive: true });
  });

  await t.test('a folder in place of the log, or of the lock, is one error with a fix, after which nothing is left', async () => {
    for (const [path, code] of [
      ['logs/embedded.log', 'NOT_A_FILE'],
      ['run/start.lock', 'LOCK_UNUSABLE'],
    ] as const) {
      rmSync(join(cluster.home, path));
      mkdirSync(join(cluster.home, path));
      const { stderr } = await cluster.virtctl(['up']);
      assert.match(stderr, new RegExp(`error\\[${code}\\].*${path}.*fix: .*away`, 's'));
      assert.equal(existsSync(join(cluster.home, 'run/network.json')), false);
      rmSync(join(cluster.home, path), { recursive: true });
    }
  });
});
