/** kubectl attach and what uses it, into native containers: by WebSockets and by SPDY. */
import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { PODS } from '../../src/api/core/pod.ts';
import { BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { sh } from '../../src/control-plane/kubelet/node.testing.ts';
import { until } from '../../src/testing/until.ts';
import { streamNode } from './stream-node.ts';

const skip = skipContainers();

for (const isDebian of [false, true])
  test(
    `attach to native containers, with ${isDebian ? "Debian's kubectl 1.20 (SPDY)" : 'a current kubectl (WebSockets)'}`,
    { skip, timeout: 120_000 },
    (t) => checkAttach(t, isDebian),
  );

/** What a kubectl has said so far, on both of its streams. */
function listen(child: ChildProcessWithoutNullStreams): () => string {
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  return () => said;
}

async function checkAttach(t: TestContext, isDebian: boolean): Promise<void> {
  const { node, kubectl, start, pod, logs } = await streamNode(t, { isDebian });

  await t.test('what is printed from now on, until the container ends', async () => {
    await pod('words', 'until [ -e /tmp/go ]; do echo before; sleep 0.05; done; echo after; exit 3');
    const child = start(['attach', 'words']);
    const said = listen(child);
    const closed = once(child, 'close');
    await until(() => said().includes('before'), 'somebody to be attached');
    await kubectl(['exec', 'words', '--', 'touch', '/tmp/go']); // its answer may be cut off: the container ends by it
    const [code] = await closed;
    assert.equal(code, 0, said());
    assert.match(said(), /after/);
  });

  await t.test('stdin stays open from one client to the next', async () => {
    await pod('lines', 'while read line; do echo "<$line>"; done', { stdin: true });
    for (const word of ['one', 'two']) {
      const child = start(['attach', '-i', 'lines']);
      const said = listen(child);
      child.stdin.write(`${word}\n`);
      await until(() => said().includes(`<${word}>`), word);
      child.stdin.end();
      child.kill();
      await once(child, 'close');
    }
    assert.equal(await logs('lines'), '<one>\n<two>\n');
  });

  await t.test('a container that reads nothing is not told anything', async () => {
    await pod('deaf', 'sleep 100');
    const { code, stderr } = await kubectl(['attach', '-i', 'deaf']);
    assert.equal(code, 1);
    assert.match(stderr, /container main reads no stdin: its spec needs `stdin: true`/);
  });

  await t.test('a terminal: one that says so, with a size, of a container that goes on without the client', async () => {
    const script = 'while :; do printf "ready> "; read word; test -t 0 && echo "<$word $(stty size)>"; done';
    await pod('shell', script, { stdin: true, tty: true });
    const child = start(['attach', '-it', 'shell'], { size: '33 77' });
    const said = listen(child);
    await until(() => said().includes('ready> '), 'the prompt that was there before');
    await until(async () => {
      child.stdin.write('hello\n');
      return said().includes('<hello 33 77>');
    }, 'an answer with the size of the window');
    child.kill('SIGKILL');
    await node.when('shell', ({ status }) => status?.phase === 'Running');
  });

  await t.test('kubectl run -i: what is said goes in, and its end is the end of the container', async () => {
    const words = ['run', 'count', '-i', '--rm', '--restart=Never', `--image=${BUSYBOX_IMAGE}`, overridden('count'), '--', 'wc', '-c'];
    const { code, stdout, stderr } = await kubectl(words, { input: Buffer.alloc(300_000, 'x') });
    assert.equal(code, 0, stderr);
    assert.match(stdout.toString('utf8'), /^300000$/m);
    await node.gone('count');
  });

  await t.test('kubectl run -it --rm: a shell, and its exit code', async () => {
    const words = ['run', 'try', '-it', '--rm', '--restart=Never', `--image=${BUSYBOX_IMAGE}`, overridden('try'), '--', 'sh'];
    const child = start(words, { size: '24 80' });
    const said = listen(child);
    await until(() => said().includes('# '), 'a prompt');
    child.stdin.write('echo $((6 * 7)); exit 5\n');
    const [code] = await once(child, 'close');
    assert.match(said(), /^42\r$/m);
    assert.equal(code, 5, said());
    await node.gone('try');
  });

  await t.test('our own programs are not attached to, and the reason names what can be used', async () => {
    await node.run('ours', { containers: [sh('sleep 100')] });
    await node.when('ours', ({ status }) => status?.phase === 'Running');
    const { code, stderr } = await kubectl(['attach', 'ours']);
    assert.equal(code, 1);
    assert.match(stderr, /container main of pod ours is a program of the embedded cluster.*`virtctl console`/);
  });
}

/** There is no scheduler here. */
function overridden(name: string): string {
  return `--overrides=${JSON.stringify({ apiVersion: 'v1', metadata: { name }, spec: { nodeName: 'n1' } })}`;
}

test('what a container reads and says outlives the kubelet', { skip, timeout: 60_000 }, async (t) => {
  const { node, restart, start, pod, logs } = await streamNode(t);
  await pod('lines', 'while read line; do echo "<$line>"; done', { stdin: true });
  const before = await node.client.get(PODS, at('lines'));
  await restart();
  const child = start(['attach', '-i', 'lines']);
  const said = listen(child);
  child.stdin.write('again\n');
  await until(() => said().includes('<again>'), 'an answer');
  child.kill('SIGKILL');
  await once(child, 'close');
  const after = await node.client.get(PODS, at('lines'));
  assert.deepEqual(after?.status, before?.status);
  assert.equal(await logs('lines'), '<again>\n');
});

const at = (name: string) => ({ namespace: 'default', name });
