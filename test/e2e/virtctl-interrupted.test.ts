/** Ctrl+C while a cluster or a machine starts; and the commands that need a cluster to themselves, because they stop it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster, run } from './harness.ts';

const VIRTCTL = join(resolve(import.meta.dirname, '../..'), 'bin/virtctl');
const CTRL_C = '\x03';

/** Types Ctrl+C on a terminal of its own as soon as `ready` is printed; gives all that was said, the exit code and the modes of the terminal. */
async function interrupt(command: string, ready: RegExp, home: string): Promise<string> {
  const env = { ...process.env, VIRT_HOME: home, KUBECONFIG: join(home, 'kubeconfig'), SHELL: '/bin/sh', TERM: 'xterm' };
  const child = spawn('/usr/bin/script', ['-qec', `trap : INT; ${VIRTCTL} ${command}; echo "left with $?"; stty -a`, '/dev/null'], { env });
  let said = '';
  let isTyped = false;
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk;
    if (isTyped || !ready.test(said)) return;
    isTyped = true;
    child.stdin.write(CTRL_C);
  });
  await once(child, 'close');
  assert.match(said, /left with 130/, said);
  assert.match(said.slice(said.lastIndexOf('speed ')), /(?<!-)icanon[\s\S]*(?<!-)echo /, said);
  assert.doesNotMatch(said, /\n\s+at |node:internal/);
  return said;
}

/** Processes that were told of this folder. */
function processesOf(home: string): string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => {
      try {
        return readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // ended meanwhile
      }
    })
    .filter((line) => line.includes(home));
}

test('interrupted', async (t) => {
  await using cluster = new EmbeddedCluster();

  await t.test('Ctrl+C during up leaves no process behind, and the next up works', async () => {
    const said = await interrupt('up', /control/, cluster.home);
    assert.match(said, /error\[INTERRUPTED\]: interrupted before the embedded cluster served; it was stopped/);
    assert.deepEqual(processesOf(cluster.home), []);
    assert.match((await cluster.virtctl(['status'])).stderr, /^error\[NOT_RUNNING\]/);
    await cluster.must('virtctl', ['up']);
  });

  await t.test('Ctrl+C during run leaves a whole machine and says so', async () => {
    const said = await interrupt('run tiny --name web --memory 128Mi', /vm +(?:Pending|Scheduling|Scheduled|Running)/, cluster.home);
    assert.match(said, /web keeps starting\. virtctl console web shows it, virtctl delete web removes it with its disk\./);
    await cluster.until('vm/web', '.status.printableStatus', 'Running');
  });

  await t.test('a backup brings back what was deleted after it', async () => {
    const file = join(cluster.home, 'objects.backup');
    assert.match(await cluster.must('virtctl', ['backup', file]), /^\d+ objects are in .*objects\.backup/);
    await cluster.must('kubectl', ['delete', 'vm', 'web', '--timeout=90s']);
    const tooEarly = await cluster.virtctl(['restore', file]);
    assert.match(`${tooEarly.code} ${tooEarly.stderr}`, /^4 error\[RUNNING\]/);
    await cluster.must('virtctl', ['down']);
    assert.match(await cluster.must('virtctl', ['restore', file]), /^\d+ objects are restored/);
    await cluster.must('virtctl', ['up']);
    await cluster.until('vm/web', '.status.printableStatus', 'Running');
  });

  await t.test('a disk of this machine becomes an image', async () => {
    const disk = join(cluster.home, 'disk.raw');
    writeFileSync(disk, Buffer.alloc(1024 * 1024));
    await cluster.must('virtctl', ['image', 'import', disk, 'localhost/test/empty:1']);
    assert.match(await cluster.must('virtctl', ['image', 'list']), /localhost\/test\/empty:1/);
    const missing = await cluster.virtctl(['image', 'import', `${disk}.gone`, 'localhost/test/gone:1']);
    assert.notEqual(missing.code, 0);
    assert.doesNotMatch(missing.stderr, /\n\s+at /);
  });

  await t.test('bash takes what completion prints', async () => {
    const script = await cluster.must('virtctl', ['completion', 'bash']);
    const { code, stderr } = await run('bash', ['-n'], { input: script });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(script, /complete .*virtctl/);
  });

  await t.test('an embedded cluster is neither installed into nor uninstalled', async () => {
    for (const [command, args] of [
      ['install', ['install']],
      ['uninstall', ['uninstall']],
    ] as const) {
      const { code, stderr } = await cluster.virtctl(args);
      assert.equal(code, 4, command);
      assert.match(stderr, /error\[\w+\]: .*embedded/, command);
      assert.doesNotMatch(stderr, /\n\s+at /, command);
    }
    assert.match(await cluster.must('virtctl', ['ls']), /web +Running/);
  });
});
