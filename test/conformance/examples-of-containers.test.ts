/** What the help of kubectl gives as examples for verbs that need containers which run, in order. */
import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEPLOYMENTS } from '../../src/api/core/deployment.ts';
import { JOBS } from '../../src/api/core/job.ts';
import type { Container } from '../../src/api/core/pod.ts';
import { REPLICA_SETS } from '../../src/api/core/replica-set.ts';
import { SERVICES } from '../../src/api/core/service.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { runScheduler } from '../../src/control-plane/scheduler/controller.ts';
import { runWorkloads, WORKLOAD_READER } from '../../src/control-plane/workloads/run.ts';
import { until } from '../../src/testing/until.ts';
import { EXAMPLES, type Example, NOT_TRIED } from './container-examples.ts';
import { type Result, type StreamNode, streamNode } from './stream-node.ts';

/** Verbs whose examples are all tried, or named with the reason. */
const VERBS = ['cp', 'port-forward', 'exec', 'logs', 'debug', 'attach', 'top pod', 'top node'];
const LOOP = 'while :; do sleep 1; done';
const containers = (...names: string[]): Container[] =>
  names.map((name) => ({ name, image: BUSYBOX_IMAGE, command: ['sh', '-c', `echo "one of ${name}"; echo "two of ${name}"; ${LOOP}`] }));

for (const isDebian of process.env['KUBECTL'] === undefined ? [false, true] : [false])
  test(`examples of kubectl's help for containers, with ${isDebian ? "Debian's kubectl 1.20" : 'a current kubectl'}`, {
    skip: skipContainers(),
    timeout: 240_000,
  }, async (t) => {
    const node = await streamNode(t, { isDebian });
    const ports = { PORT1: await freePort(), PORT2: await freePort() };
    await prepare(t, node, ports);
    await t.test('the table has what the help has', { skip: isDebian && 'its help has other names' }, () => assertWhole(node));
    for (const [help, why] of Object.entries(NOT_TRIED)) await t.test(help, { skip: why }, () => {});
    for (const [help, prints, { command = help, since, newestCannot, code = 0, ...how } = {}] of EXAMPLES) {
      const isNewest = process.env['KUBECTL'] !== undefined;
      const skip = isDebian && since ? `kubectl has ${since[1]} since ${since[0]}` : isNewest && newestCannot;
      await t.test(command, { skip }, async () => {
        const words = { ...ports, HERE: await freePort(), IMAGE: BUSYBOX_IMAGE, PATH: join(node.node.dir, 'files') };
        const fill = (text: string) => Object.entries(words).reduce((all, [word, value]) => all.replaceAll(word, String(value)), text);
        const answer = await tried(node, fill(command), { ...how, prints: new RegExp(fill(prints.source), prints.flags), fill });
        assert.equal(answer.code, code, answer.said);
        assert.match(answer.said, answer.prints);
      });
    }
  });

type Answer = { readonly code: number | null; readonly said: string };
type How = Pick<NonNullable<Example[2]>, 'types' | 'goesOn' | 'forwards' | 'isPipe'> & {
  readonly prints: RegExp;
  readonly fill: (text: string) => string;
};

async function tried(node: StreamNode, command: string, how: How): Promise<Answer & { prints: RegExp }> {
  const { prints, types, goesOn, forwards, isPipe, fill } = how;
  const words = command.split(' ');
  const answer = isPipe
    ? said(await node.pipe(command))
    : types !== undefined
      ? await typed(node, words, types)
      : goesOn || forwards
        ? await endedAfter(node, words, { prints, pages: (forwards ?? []).map(fill) })
        : await told(node, words);
  return { ...answer, prints };
}

/** Every line of the help is in the table. */
async function assertWhole(node: StreamNode): Promise<void> {
  const known = new Set([...EXAMPLES.map(([help]) => help), ...Object.keys(NOT_TRIED)]);
  const lines = await Promise.all(VERBS.map(async (verb) => examplesIn((await told(node, [...verb.split(' '), '--help'])).said)));
  assert.deepEqual(
    lines.flat().filter((line) => !known.has(line)),
    [],
  );
}

function examplesIn(help: string): string[] {
  const [, examples = ''] = /^Examples:\n([\s\S]*?)^\S/m.exec(help) ?? [];
  const lines = examples.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.replace(/^kubectl /, ''));
}

/** Below those that the kernel gives to connections, which come and go. */
async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(10_000 + Math.floor(Math.random() * 20_000));
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  }
}

async function told({ kubectl }: StreamNode, words: readonly string[]): Promise<Answer> {
  return said(await kubectl(words));
}

function said({ code, stdout, stderr }: Result): Answer {
  return { code, said: `${stdout.toString('utf8')}${stderr}` };
}

/** Ended by us when it has printed that and every page was there. */
async function endedAfter(
  node: StreamNode,
  words: readonly string[],
  wanted: { prints: RegExp; pages: readonly string[] },
): Promise<Answer> {
  const child = node.start(words);
  const text = listen(child);
  const closed = once(child, 'close');
  try {
    await until(() => wanted.prints.test(text()), String(wanted.prints));
    for (const page of wanted.pages) {
      await until(
        () =>
          fetch(`http://${page}/`).then(
            ({ ok }) => ok,
            () => false,
          ),
        `the page at ${page}`,
      );
      assert.equal(await (await fetch(`http://${page}/`)).text(), 'page\n');
    }
  } catch (error) {
    throw new Error(`kubectl says: ${text()}`, { cause: error });
  } finally {
    child.kill();
    await closed;
  }
  return { code: 0, said: text() };
}

/** On a terminal; what is typed is typed at the first prompt. */
async function typed(node: StreamNode, words: readonly string[], types: string): Promise<Answer> {
  const child = node.start(words, { size: '24 80' });
  const text = listen(child);
  const closed = once(child, 'close');
  if (types !== '') {
    await until(() => text().includes('# ') || child.exitCode !== null, 'a prompt');
    child.stdin.write(types);
  }
  const [code] = await closed;
  return { code, said: text() };
}

function listen(child: ChildProcessWithoutNullStreams): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  return () => text;
}

/** The Pods, Deployment, Service and Job that the examples speak of; they run and have printed their lines. */
async function prepare(t: TestContext, streams: StreamNode, { PORT1, PORT2 }: { PORT1: number; PORT2: number }): Promise<void> {
  const { node } = streams;
  const { client, server } = node;
  const stop = new AbortController();
  const rest = { clock: systemClock, log: silentLogger, signal: stop.signal };
  const running = Promise.all([
    runScheduler({ ...rest, client }),
    runWorkloads({
      reader: { ...rest, client: server.clientAs(WORKLOAD_READER) },
      as: (name) => ({ ...rest, client: server.clientAs(`system:serviceaccount:kube-system:${name}`) }),
    }),
  ]);
  t.after(async () => {
    stop.abort();
    await running;
  });
  const labels = { app: 'nginx' };
  const page = `mkdir /www; echo page > /www/index.html; for port in ${PORT1} ${PORT2}; do httpd -p $port -h /www; done`;
  const [main] = containers('main').map((each) => ({ ...each, command: ['sh', '-c', `${page}; ${each.command?.[2]}`] }));
  if (!main) return;
  const nginx = { containers: [main] };
  await node.run('nginx', nginx);
  const ticks: Container = { name: 'main', image: BUSYBOX_IMAGE, command: ['sh', '-c', 'while :; do echo tick; sleep 0.5; done'] };
  await node.run('ticking', { containers: [ticks] });
  await writeFiles(join(node.dir, 'files'), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'nginx', namespace: 'default' },
    spec: nginx,
  });
  const shell: Container = { name: 'shell', image: BUSYBOX_IMAGE, command: ['sh'], stdin: true, tty: true };
  await node.run('web-1', { containers: [...containers('ruby', 'side'), shell] });
  const crash: Container = {
    name: 'main',
    image: BUSYBOX_IMAGE,
    command: ['sh', '-c', 'echo "one of it"; [ -e /data/x ] || { touch /data/x; exit 1; }; sleep 1000'],
  };
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  await node.run('crashing', {
    restartPolicy: 'Always',
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [{ ...crash, volumeMounts }],
  });
  const namespace = 'default';
  await client.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'nginx', namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: nginx } },
  });
  const ofTicker = { app: 'ticker' };
  await client.create(REPLICA_SETS, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'ticker', namespace },
    spec: { selector: { matchLabels: ofTicker }, template: { metadata: { labels: ofTicker }, spec: { containers: [ticks] } } },
  });
  await client.create(SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'myservice', namespace },
    spec: { selector: labels, ports: [{ name: 'https', port: 443, targetPort: PORT1 }] },
  } as never);
  const hello: Container = { name: 'hello', image: BUSYBOX_IMAGE, command: ['echo', 'hello from a job'] };
  await client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'hello', namespace },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [hello] } } },
  });
  const { status: { podIP } = {} } = await node.when('nginx', ({ status }) => status?.phase === 'Running');
  // The ports of a Pod are open at its address when the kubelet has seen that the container listens, and kubectl forwards to none that is refused.
  for (const port of [PORT1, PORT2])
    await until(
      () =>
        fetch(`http://${podIP}:${port}/`).then(
          ({ ok }) => ok,
          () => false,
        ),
      `port ${port} of the Pod`,
    );
  await node.when('ticking', ({ status }) => status?.phase === 'Running');
  await node.when('web-1', ({ status }) => status?.phase === 'Running');
  await node.when('crashing', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
  await until(async () => (await client.get(DEPLOYMENTS, { namespace, name: 'nginx' }))?.status?.availableReplicas === 1, 'the Deployment');
  await until(
    async () => (await client.get(REPLICA_SETS, { namespace, name: 'ticker' }))?.status?.availableReplicas === 1,
    'the ReplicaSet',
  );
  await until(async () => (await client.get(JOBS, { namespace, name: 'hello' }))?.status?.succeeded === 1, 'the Job');
  const printing = ['nginx -c main', 'web-1 -c ruby', 'web-1 -c side', 'deployment/nginx -c main'];
  for (const container of printing)
    await until(async () => (await told(streams, ['logs', ...container.split(' ')])).said.includes('two of'), `what ${container} prints`);
}

async function writeFiles(path: string, pod: object): Promise<void> {
  await mkdir(join(path, 'foo_dir'), { recursive: true });
  await writeFile(join(path, 'foo_dir/file'), 'of the folder\n');
  await writeFile(join(path, 'foo'), 'a file\n');
  await writeFile(join(path, 'pod.yaml'), JSON.stringify(pod));
}
