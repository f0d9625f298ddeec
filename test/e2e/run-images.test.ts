/** From a name of a user's catalogue to a machine: its disk comes from a web server on the loopback. And a machine for one command. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startFileServer } from '../../src/images/import/file-server.testing.ts';
import { openImageStore } from '../../src/images/store.ts';
import { until } from '../../src/testing/until.ts';
import { EmbeddedCluster } from './harness.ts';

const VIRTCTL = join(resolve(import.meta.dirname, '../..'), 'bin/virtctl');
const STALL_AT = 4 * 2 ** 20;

test('run from a catalogue', async (t) => {
  await using cluster = await EmbeddedCluster.start({ guests: ['agent'] });
  const store = openImageStore(join(cluster.home, 'images'));
  const disk = gzipSync(readFileSync(join(await store.unpacked('localhost/guests/agent:latest'), 'disk/disk.img')), { level: 1 });
  const server = await startFileServer(t, disk);
  server.pages.set('/SHA512SUMS', (_, response) => response.end(`${createHash('sha512').update(disk).digest('hex')}  web.img.gz\n`));
  const url = `${server.origin}/web.img.gz`;
  const bad = { sources: { amd64: { url, digest: `sha256:${'0'.repeat(64)}` } } };
  const web = {
    sources: { amd64: { url, checksums: `${server.origin}/SHA512SUMS` } },
    user: 'root',
    memory: '256Mi',
    disk: '1Gi',
    agent: true,
  };
  writeFileSync(join(cluster.home, 'catalogue.json'), JSON.stringify({ images: { web: { alias: 'web:2' }, 'web:2': web, bad } }));
  const cache = join(cluster.home, 'cache');
  const virtctl = (...args: string[]) => cluster.virtctl(args, { env: { KUBEVIRT_CACHE: cache } });
  const names = async () => (await cluster.must('kubectl', ['get', 'vm,pvc', '-o', 'name'])).trim();

  await t.test('a download that is interrupted makes no machine and keeps what came', async () => {
    server.stallAt = STALL_AT;
    const env = { ...cluster.environment(), KUBEVIRT_CACHE: cache };
    const child = spawn(VIRTCTL, ['run', 'web', '--name', 'web', '--detach'], { env, stdio: 'ignore' });
    await until(() => partialBytes(cache) === STALL_AT, 'a part of the disk');
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'exit'), [130, null]);
    assert.equal(await names(), '');
  });

  await t.test(
    'the next one goes on from there, is checked by the list of the publisher, and boots; meanwhile one command runs elsewhere',
    async () => {
      server.stallAt = undefined;
      server.requests.length = 0;
      const { code, stdout, stderr } = await virtctl('run', 'web', '--name', 'web', '--detach');
      assert.deepEqual([code, stdout], [0, 'web\n'], stderr);
      assert.deepEqual(server.requests, ['/SHA512SUMS', `/web.img.gz bytes=${STALL_AT}-`]);
      const image = await cluster.field('pvc', 'web-root', String.raw`.metadata.annotations.kubevirt\.io/disk-image`);
      assert.match(image, /^localhost\/catalogue\/web:2-[0-9a-f]{20}$/);
      await using console = cluster.console('web');
      const [ready, once] = await Promise.all([
        console.expect(/guest ready/),
        virtctl('run', '--rm', 'agent', '--', 'sh', '-c', 'hostname; echo wrong >&2; exit 3'),
      ]);
      assert.match(ready, /guest ready/);
      assert.deepEqual([once.code, /^agent-\w{5}\n$/.test(once.stdout), /wrong\n$/.test(once.stderr)], [3, true, true], once.stderr);
      assert.doesNotMatch(await names(), /agent-/);
    },
  );

  await t.test('who logs in is written on the machine, and its name is the one of the guest', async () => {
    assert.equal(await cluster.field('vmi', 'web', String.raw`.metadata.annotations.kubevirt\.io/login-user`), 'root');
    await cluster.untilCondition('vmi/web', 'AgentConnected');
    assert.equal(await cluster.must('virtctl', ['exec', 'web', '--', 'hostname']), 'web\n');
  });

  await t.test('input that has ended ends the console', async () => {
    const { code, stdout, stderr } = await cluster.virtctl(['console', 'web'], { timeoutMs: 60_000 });
    assert.deepEqual([code, /guest ready/.test(stdout), /The input has ended/.test(stderr)], [0, true, true]);
  });

  await t.test('a second machine downloads nothing, and a wrong digest makes neither an image nor a machine', async () => {
    server.requests.length = 0;
    assert.equal((await virtctl('run', 'web', '--name', 'again', '--dry-run')).code, 0);
    assert.deepEqual(server.requests, ['/SHA512SUMS']);
    const { code, stderr } = await virtctl('run', 'bad', '--name', 'bad', '--detach');
    assert.match(`${code} ${stderr}`, /^1 [\s\S]*error\[DIGEST_MISMATCH\]: http:.*\nwhy: its digest is sha256:/);
    assert.doesNotMatch(`${await names()} ${await cluster.must('virtctl', ['image', 'list'])}`, /\bbad\b/);
  });
});

/** How much of a download is here. */
function partialBytes(cache: string): number {
  const downloads = join(cache, 'downloads');
  if (!statSync(downloads, { throwIfNoEntry: false })) return 0;
  const sizes = readdirSync(downloads)
    .filter((name) => !name.startsWith('.'))
    .map((name) => statSync(join(downloads, name, 'partial'), { throwIfNoEntry: false })?.size ?? 0);
  return Math.max(0, ...sizes);
}
