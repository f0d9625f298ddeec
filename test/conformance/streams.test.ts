import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { sh } from '../../src/control-plane/kubelet/node.testing.ts';
import { until } from '../../src/testing/until.ts';
import { streamNode } from './stream-node.ts';

const skip = skipContainers();
/** More than any buffer on the way holds. */
const LARGE = randomBytes(5_000_000);

for (const isDebian of [false, true])
  test(
    `exec into native containers, with ${isDebian ? "Debian's kubectl 1.20 (SPDY)" : 'a current kubectl (WebSockets)'}`,
    {
      skip,
      timeout: 120_000,
    },
    (t) => checkExec(t, isDebian),
  );

async function checkExec(t: TestContext, isDebian: boolean): Promise<void> {
  const { node, kubectl, start, pod } = await streamNode(t, { isDebian });
  await pod('box', 'while :; do sleep 1; done');
  const exec = (...command: string[]) => ['exec', 'box', '--', ...command];
  const inside = async (script: string) => (await kubectl(exec('sh', '-c', script))).stdout.toString('utf8').trim();

  await t.test('output and errors come apart, and the exit code reaches the shell', async () => {
    const { code, stdout, stderr } = await kubectl(exec('sh', '-c', 'echo out; echo err >&2; exit 7'));
    assert.deepEqual([code, stdout.toString('utf8'), stderr], [7, 'out\n', 'err\ncommand terminated with exit code 7\n']);
  });

  await t.test('a program has the user, the variables and the rights of its container, and no more', async () => {
    await pod('web', 'while :; do sleep 1; done', { env: [{ name: 'WORD', value: 'hello' }], securityContext: { runAsUser: 101 } });
    const { stdout } = await kubectl(['exec', 'web', '--', 'sh', '-c', 'id -u; echo $WORD; grep NoNewPrivs /proc/self/status']);
    assert.equal(stdout.toString('utf8'), '101\nhello\nNoNewPrivs:\t1\n');
  });

  await t.test('a program that is not there', async () => {
    const { code, stderr } = await kubectl(exec('absent'));
    assert.notEqual(code, 0);
    assert.match(stderr, /absent/);
  });

  await t.test('megabytes go in and come back as they were, and the end of stdin is the end of cat', async () => {
    const { code, stdout } = await kubectl(['exec', '-i', 'box', '--', 'cat'], { input: LARGE });
    assert.equal(code, 0);
    assert.ok(stdout.equals(LARGE), `${stdout.length} bytes came back`);
  });

  await t.test('a program that reads nothing of a long stdin ends all the same', async () => {
    const { code } = await kubectl(['exec', '-i', 'box', '--', 'sh', '-c', 'exit 3'], { input: LARGE });
    assert.equal(code, 3);
  });

  await t.test('with a terminal: one that says so, with a size', async () => {
    const script =
      'test -t 0 && test -t 1 && echo $TERM; until [ "$(stty size)" = "33 77" ]; do sleep 0.05; done; read word; echo "<$word>"; exit 4';
    const child = start(['exec', '-it', 'box', '--', 'sh', '-c', script], { size: '33 77' });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.stdin.write('hello\n');
    const [code] = await once(child, 'close');
    assert.equal(code, 4, said);
    assert.match(said, /^xterm\r\n/m);
    assert.match(said, /^<hello>\r\n/m);
  });

  await t.test('a program ends with the client that asked for it', async () => {
    const child = start(exec('sleep', '4321'));
    await until(async () => (await inside('pidof sleep | wc -w; ps | grep -c "[s]leep 4321"')).endsWith('\n1'), 'the program to run');
    child.kill('SIGKILL');
    await until(async () => (await inside('ps | grep -c "[s]leep 4321"')) === '0', 'the program to end');
  });

  await t.test('kubectl cp, there and back', async () => {
    const [there, back] = [join(node.dir, 'there'), join(node.dir, 'back')];
    await writeFile(there, LARGE);
    const first = await kubectl(['cp', there, 'box:/tmp/file']);
    const second = await kubectl(['cp', 'box:/tmp/file', back]);
    assert.deepEqual([first.code, second.code], [0, 0], first.stderr + second.stderr);
    assert.ok((await readFile(back)).equals(LARGE));
  });

  await t.test('our own programs are not entered, and the reason names what can be used', async () => {
    await node.run('ours', { containers: [sh('sleep 100')] });
    await node.when('ours', ({ status }) => status?.phase === 'Running');
    const { code, stderr } = await kubectl(['exec', 'ours', '--', 'true']);
    assert.equal(code, 1);
    assert.match(stderr, /container main of pod ours is a program of the embedded cluster.*`virtctl exec`/);
  });

  await t.test('nothing of it is left', async () => {
    await until(async () => !/cat|tar|sleep 4321/.test(await inside('ps')), 'every program to end');
    const pods = join(node.rootDir, 'pods');
    const files = await readdir(pods, { recursive: true });
    assert.deepEqual(
      files.filter((name) => /bundle\/exec-/.test(name)),
      [],
    );
  });
}

for (const isDebian of [false, true])
  test(
    `port-forward, with ${isDebian ? "Debian's kubectl 1.20 (SPDY)" : 'a current kubectl (SPDY in WebSockets)'}`,
    {
      timeout: 120_000,
    },
    (t) => checkPortForward(t, isDebian),
  );

async function checkPortForward(t: TestContext, isDebian: boolean): Promise<void> {
  const { start, node, pod } = await streamNode(t, { isDebian });
  await node.run('ours', { containers: [sh('sleep 100')] });
  const { status } = await node.when('ours', (each) => each.status?.phase === 'Running');
  const server = createServer((request, response) => request.pipe(response)).listen(0, status?.podIP); // a program of ours in the Pod does the same
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const forward = async (name: string, there: number) => {
    const child = start(['port-forward', `pod/${name}`, `:${there}`]);
    t.after(() => child.kill());
    let said = '';
    for (const output of [child.stdout, child.stderr])
      output.on('data', (chunk) => {
        said += chunk;
      });
    const here = () => /127\.0\.0\.1:(\d+) -> /.exec(said)?.[1];
    await until(() => here() !== undefined, 'kubectl to listen');
    return { url: `http://127.0.0.1:${here()}/`, said: () => said };
  };

  await t.test('fifty connections at once carry a megabyte there and back each', async () => {
    const { url } = await forward('ours', port);
    const page = LARGE.subarray(0, 1_000_000);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => fetch(url, { method: 'POST', body: page, headers: { connection: 'close' } })),
    );
    const pages = await Promise.all(answers.map(async (each) => Buffer.from(await each.arrayBuffer())));
    assert.deepEqual(
      pages.map((each) => each.equals(page)),
      pages.map(() => true),
    );
  });

  await t.test('a port where nobody listens is refused with the reason', async () => {
    const { url, said } = await forward('ours', 1);
    await assert.rejects(fetch(url));
    await until(() => /error forwarding port 1 to pod ours: .*ECONNREFUSED/.test(said()), 'the reason to be told');
  });

  await t.test('a server in a native container', { skip }, async () => {
    await pod('web', 'mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www');
    const answer = async () => {
      const { url } = await forward('web', 80);
      return fetch(url).then(
        (response) => response.text(),
        () => undefined, // not open yet
      );
    };
    await until(async () => (await answer()) === 'hello\n', 'the page');
  });
}
