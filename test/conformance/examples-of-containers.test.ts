/** What the help of kubectl gives as examples for verbs that need containers which run, in order. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { DEPLOYMENTS } from '../../src/api/core/deployment.ts';
import { JOBS } from '../../src/api/core/job.ts';
import type { Container } from '../../src/api/core/pod.ts';
import { SERVICES } from '../../src/api/core/service.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { runScheduler } from '../../src/control-plane/scheduler/controller.ts';
import { runWorkloads, WORKLOAD_READER } from '../../src/control-plane/workloads/run.ts';
import { until } from '../../src/testing/until.ts';
import { type StreamNode, streamNode } from './stream-node.ts';

type Example = readonly [
  command: string,
  prints: RegExp,
  more?: { readonly since?: readonly [version: string, what: string]; readonly code?: number; readonly types?: string },
];

const LOOP = 'while :; do sleep 1; done';
const containers = (...names: string[]): Container[] =>
  names.map((name) => ({ name, image: BUSYBOX_IMAGE, command: ['sh', '-c', `echo "one of ${name}"; echo "two of ${name}"; ${LOOP}`] }));

const EXAMPLES: readonly Example[] = [
  ['logs nginx', /^one of main\ntwo of main$/m],
  ['logs nginx --prefix', /^\[pod\/nginx\/main\] one of main$/m],
  ['logs nginx --limit-bytes=5', /^one o$/],
  ['logs nginx --pod-running-timeout=20s', /two of main/],
  ['logs web-1 --all-containers=true', /^(?=[\s\S]*one of ruby\ntwo of ruby)[\s\S]*one of side\ntwo of side/], // in any order: kubectl keeps a map
  ['logs deployment/nginx --all-pods=true', /one of main/, { since: ['1.32', '--all-pods'] }],
  ['logs -l app=nginx --all-containers=true', /one of main/],
  ['logs -l app=nginx --max-log-requests=10', /one of main/],
  ['logs -p -c main crashing', /one of it/],
  ['logs -c ruby web-1', /^one of ruby\ntwo of ruby$/m],
  ['logs --tail=1 nginx', /^two of main\n$/],
  ['logs --since=1h nginx', /one of main/],
  ['logs nginx --since-time=2024-08-30T06:00:00Z --timestamps=true', /^\d{4}-\d\d-\d\dT\S+Z one of main$/m],
  ['logs --insecure-skip-tls-verify-backend nginx', /one of main/],
  ['logs job/hello', /hello from a job/],
  ['logs deployment/nginx -c main', /one of main/],
  ['logs web-1 -c absent', /container absent is not valid for pod web-1/, { code: 1 }],
  ['exec nginx -- date', /20\d\d/],
  ['exec web-1 -c side -- date', /20\d\d/],
  ['exec web-1 -c ruby -i -t -- sh -il', /# [\s\S]*42/, { types: 'echo $((6 * 7)); exit\n' }],
  ['exec nginx -i -t -- ls -t /bin', /busybox/, { types: '' }],
  ['exec deploy/nginx -- date', /20\d\d/],
  ['exec svc/myservice -- date', /20\d\d/],
  ['attach web-1 -c shell -i -t', /# [\s\S]*42/, { types: 'echo $((6 * 7)); exit\n' }],
  ['top pod', /nginx +\d+m +\d+Mi/],
  ['top pod --namespace=default', /web-1 +\d+m/],
  ['top pod nginx --containers', /nginx +main +\d+m +\d+Mi/],
  ['top pod -l app=nginx', /nginx-\S+ +\d+m/],
  ['top node', /n1 +\d+m +\d+% +\d+Mi +\d+%/],
  ['top node n1', /n1 +\d+m/],
  [
    'debug nginx -it --image=IMAGE -c first -- sh',
    /# [\s\S]*42/,
    { since: ['1.23', 'ephemeral containers as they are'], types: 'echo $((6 * 7)); exit\n' },
  ],
  [
    'debug --image=IMAGE -c debugger nginx',
    /^(--profile=legacy is deprecated.*\n)?$/,
    { since: ['1.23', 'ephemeral containers as they are'] },
  ],
  [
    'get pod nginx -o jsonpath={.spec.ephemeralContainers[*].name}',
    /^first debugger$/,
    { since: ['1.23', 'ephemeral containers as they are'] },
  ],
  ['debug nginx --copy-to=my-debugger --set-image=*=IMAGE --share-processes=false', /^(--profile=legacy is deprecated.*\n)?$/],
  ['wait --for=condition=Ready pod/my-debugger --timeout=30s', /condition met/],
];

for (const isDebian of [false, true])
  test(`examples of kubectl's help for containers, with ${isDebian ? "Debian's kubectl 1.20" : 'a current kubectl'}`, {
    skip: skipContainers(),
    timeout: 180_000,
  }, async (t) => {
    const node = await streamNode(t, { isDebian });
    await prepare(t, node);
    for (const [command, prints, { since, code = 0, types } = {}] of EXAMPLES) {
      await t.test(command, { skip: isDebian && since ? `kubectl has ${since[1]} since ${since[0]}` : false }, async () => {
        const words = command.replaceAll('IMAGE', BUSYBOX_IMAGE).split(' ');
        const answer = types === undefined ? await told(node, words) : await typed(node, words, types);
        assert.equal(answer.code, code, answer.said);
        assert.match(answer.said, prints);
      });
    }
  });

async function told({ kubectl }: StreamNode, words: readonly string[]): Promise<{ code: number | null; said: string }> {
  const { code, stdout, stderr } = await kubectl(words);
  return { code, said: `${stdout.toString('utf8')}${stderr}` };
}

/** On a terminal; what is typed is typed at the first prompt. */
async function typed({ start }: StreamNode, words: readonly string[], types: string): Promise<{ code: number | null; said: string }> {
  const child = start(words, { size: '24 80' });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  const closed = once(child, 'close');
  if (types !== '') {
    await until(() => said.includes('# '), 'a prompt');
    child.stdin.write(types);
  }
  const [code] = await closed;
  return { code, said };
}

/** The Pods, Deployment, Service and Job that the examples speak of; they run and have printed their lines. */
async function prepare(t: TestContext, streams: StreamNode): Promise<void> {
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
  const [main] = containers('main');
  await node.run('nginx', { containers: containers('main') });
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
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: main ? [main] : [] } } },
  });
  await client.create(SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'myservice', namespace },
    spec: { selector: labels, ports: [{ port: 80 }] },
  } as never);
  const hello: Container = { name: 'hello', image: BUSYBOX_IMAGE, command: ['echo', 'hello from a job'] };
  await client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'hello', namespace },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [hello] } } },
  });
  await node.when('nginx', ({ status }) => status?.phase === 'Running');
  await node.when('web-1', ({ status }) => status?.phase === 'Running');
  await node.when('crashing', ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
  await until(async () => (await client.get(DEPLOYMENTS, { namespace, name: 'nginx' }))?.status?.availableReplicas === 1, 'the Deployment');
  await until(async () => (await client.get(JOBS, { namespace, name: 'hello' }))?.status?.succeeded === 1, 'the Job');
  const printing = ['nginx -c main', 'web-1 -c ruby', 'web-1 -c side', 'deployment/nginx -c main'];
  for (const container of printing)
    await until(async () => (await told(streams, ['logs', ...container.split(' ')])).said.includes('two of'), `what ${container} prints`);
}
