/** Records what kubectl (both), client-node and virtctl send in a scenario each, into recorded/: `node test/kubernetes/record.ts [NAME...]`. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoordinationV1Api, CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { Cluster } from '../conformance/cluster.ts';
import { eventually } from '../conformance/eventually.ts';
import { deployment, pod, service, WIDGET_CRD, widget } from '../conformance/manifests.ts';
import type { Around } from '../conformance/serve.ts';
import { format, Recorder } from './recording.ts';

const SCENARIOS: Record<string, { readonly isDebian?: boolean; play(cluster: Cluster, recorder: Recorder): Promise<void> }> = {
  'kubectl-current': { play: playKubectl },
  'kubectl-1.20': { isDebian: true, play: playKubectl },
  'client-node': { play: playClientNode },
  virtctl: { play: playVirtctl },
};

/** Of the headers of a connection that wants to leave HTTP, what decides about the answer. */
const HANDSHAKE = [
  'connection',
  'upgrade',
  'sec-websocket-version',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'x-stream-protocol-version',
];

const wanted = process.argv.slice(2);
for (const [name, { isDebian, play }] of Object.entries(SCENARIOS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const recorder = new Recorder();
  await using cluster = await Cluster.start({ isDebian, around: recording(recorder), onUpgrade: recordingUpgrades(recorder) });
  await play(cluster, recorder);
  mkdirSync(join(import.meta.dirname, 'recorded'), { recursive: true });
  writeFileSync(join(import.meta.dirname, 'recorded', `${name}.jsonl`), format(recorder.requests));
  console.log(`${name}: ${recorder.requests.length} requests`);
}

function recording(recorder: Recorder): Around {
  return async (request, answer) => {
    const bytes = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const type = request.headers.get('content-type') ?? undefined;
    const isBinary = type?.includes('protobuf') ?? false;
    const url = new URL(request.url);
    const number = recorder.add({
      method: request.method,
      path: `${url.pathname}${url.search}`,
      accept: request.headers.get('accept') ?? undefined,
      type,
      ...(bytes?.length ? (isBinary ? { bytes: bytes.toString('base64') } : { body: bytes.toString() }) : {}),
    });
    const { method, headers, signal } = request;
    const response = await answer(new Request(request.url, { method, headers, signal, body: bytes }));
    const isEndless = /[?&]watch=(true|1)/.test(url.search);
    if (!isEndless && response.headers.get('content-type')?.includes('json')) recorder.learn(number, await response.clone().json());
    return response;
  };
}

/** A client may offer protocols in one header, or in one each. */
function recordingUpgrades(recorder: Recorder): (request: IncomingMessage) => void {
  return ({ method = 'GET', url = '/', headers }) => {
    const kept = HANDSHAKE.flatMap((name) => (headers[name] === undefined ? [] : [[name, [headers[name]].flat().join(', ')]]));
    recorder.add({ method, path: url, upgrade: Object.fromEntries(kept) });
  };
}

/** Everyday commands; ones that an old kubectl does not have fail there without a request. */
async function playKubectl(cluster: Cluster): Promise<void> {
  const file = (name: string, object: object) => cluster.file(`${name}.json`, object);
  const stopped = file('d0', deployment('d', 0));
  const commands: string[][] = [
    ['create', 'ns', 'rec'],
    ['create', 'cm', 'c', '--from-literal=a=b'],
    ['create', 'cm', 'c', '--from-literal=a=b'],
    ['get', 'cm', 'c'],
    ['get', 'cm', 'c', '-o', 'yaml'],
    ['get', 'cm', 'none'],
    ['create', 'secret', 'generic', 's', '--from-literal=p=x'],
    ['create', 'sa', 'robot'],
    ['create', 'role', 'r', '--verb=get,list', '--resource=pods'],
    ['create', 'rolebinding', 'rb', '--role=r', '--serviceaccount=rec:robot'],
    ['create', 'deployment', 'made', '--image=example', '--replicas=0'],
    ['create', 'job', 'j', '--image=example'],
    ['create', 'quota', 'q', '--hard=pods=30'],
    ['create', 'ingress', 'i', '--rule=example.com/*=svc:80'],
    ['apply', '-f', stopped],
    ['apply', '-f', file('d2', deployment('d', 2))],
    ['diff', '-f', stopped],
    ['get', 'deploy'],
    ['get', 'deploy', '-o', 'wide', '--show-labels'],
    ['scale', 'deploy', 'd', '--replicas=3'],
    ['scale', 'deploy', 'd', '--current-replicas=3', '--replicas=1'],
    ['set', 'image', 'deploy/d', 'c=example:2'],
    ['rollout', 'pause', 'deploy/d'],
    ['label', 'deploy', 'd', 'x=y'],
    ['annotate', 'deploy', 'd', 'note=yes'],
    ['apply', '-f', file('s1', service('s', [80, 81]))],
    ['apply', '-f', file('s2', service('s', [81]))],
    ['create', '-f', file('p', pod('p'))],
    ['get', 'pods', '-A', '--field-selector', 'spec.nodeName=n1'],
    ['get', 'pods', '--field-selector', 'foo=bar'],
    ['describe', 'pod', 'p'],
    ['patch', 'pod', 'p', '-p', '{"spec":{"containers":[{"name":"c","image":"example:3"}]}}'],
    ['patch', 'cm', 'c', '--type=json', '-p', '[{"op":"add","path":"/data/e","value":"f"}]'],
    ['patch', 'cm', 'c', '--type=merge', '-p', '{"data":{"a":null}}'],
    ['logs', 'p'],
    ['logs', 'p', '-c', 'none'],
    ['exec', 'p', '--', 'true'],
    ['exec', 'p', '-c', 'none', '--', 'true'],
    ['exec', '-it', 'absent', '--', 'sh'],
    ['delete', 'pod', 'p', '--now'],
    ...appliedCommands(file),
    ['apply', '-f', file('crd', WIDGET_CRD)],
    ['apply', '-f', file('w', widget('w'))],
    ['get', 'wd'],
    ['apply', '--server-side', '-f', file('ssw', widget('w', { size: 8 })), '--field-manager=one'],
    ['apply', '--server-side', '-f', file('ssw', widget('w', { size: 8 })), '--field-manager=one', '--force-conflicts'],
    ['apply', '-f', file('w500', widget('w', { size: 500 }))],
    ['patch', 'wd', 'w', '-p', '{"spec":{"size":6}}'],
    ['patch', 'wd', 'w', '--subresource=status', '--type=merge', '-p', '{"status":{"n":1}}'],
    ['scale', 'wd', 'w', '--replicas=2'],
    ['replace', '-f', file('w7', widget('w', { size: 7 }))],
    ['delete', 'wd', 'w'],
    ['create', 'cm', 'x', '--dry-run=server'],
    ['get', 'secret', '--chunk-size=1', '-o', 'name'],
    ['get', 'all'],
    ['delete', 'deploy', 'd', '--cascade=orphan'],
    ['delete', 'cm', '--all'],
    ['delete', 'svc,secret,sa,role,rolebinding,job,quota,ingress', '--all'],
  ];
  for (const command of commands) await cluster.kubectl(['-n', 'rec', ...command]);
}

/** Server-side: by two who want the same field, with force, after an apply of the client, and of a list whose items have keys. */
function appliedCommands(file: (name: string, object: object) => string): string[][] {
  const map = (name: string, data: Record<string, string>) =>
    file(`${name}${Object.values(data).join('')}`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
  const apply = (path: string, manager: string, ...more: string[]) => [
    ...['apply', '--server-side', '-f', path, `--field-manager=${manager}`],
    ...more,
  ];
  return [
    apply(map('ssa', { a: '1', b: '2' }), 'one'),
    apply(map('ssa', { a: '1', b: '2' }), 'one'),
    apply(map('ssa', { a: '9' }), 'two'),
    apply(map('ssa', { a: '9' }), 'two', '--force-conflicts'),
    apply(map('ssa', { b: '2' }), 'one'),
    apply(map('ssa', { c: '3' }), 'one', '--dry-run=server'),
    ['apply', '-f', map('moved', { a: '1' })],
    ['apply', '--server-side', '-f', map('moved', { a: '2' })],
    apply(file('sss1', service('sss', [80, 81])), 'one'),
    apply(file('sss2', service('sss', [82])), 'two'),
    apply(file('sss3', service('sss', [80])), 'one'),
    apply(file('ssd0', deployment('ssd', 0)), 'one'),
    ['scale', 'deploy', 'ssd', '--replicas=1'],
    apply(file('ssd2', deployment('ssd', 2)), 'one'),
    apply(file('ssd2', deployment('ssd', 2)), 'one', '--force-conflicts'),
    ['delete', 'cm', 'ssa', 'moved'],
    ['delete', 'deploy', 'ssd', '--wait=false'],
  ];
}

async function playClientNode(cluster: Cluster): Promise<void> {
  const config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const namespace = 'rec';
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' }, data: { value: '1' } } });
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
  let last = '';
  informer.on('update', ({ data }) => {
    last = data?.['value'] ?? '';
  });
  await informer.start();
  await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...made, data: { value: '2' } } });
  await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made }).catch(() => {});
  await core.patchNamespacedConfigMap({ namespace, name: 'a', body: [{ op: 'replace', path: '/data/value', value: '3' }] });
  await eventually(
    () => last === '3',
    () => 'for the last update',
  );
  await informer.stop();
  const leases = config.makeApiClient(CoordinationV1Api);
  const lease = await leases.createNamespacedLease({ namespace, body: { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } } });
  await leases.replaceNamespacedLease({ namespace, name: 'l', body: { ...lease, spec: { holderIdentity: 'you', leaseTransitions: 1 } } });
  await core.listNamespacedConfigMap({ namespace, labelSelector: 'a in (b,c),!d', limit: 1 });
  await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
  await core.deleteCollectionNamespacedConfigMap({ namespace });
  await core.readNamespacedConfigMap({ namespace, name: 'a' }).catch(() => {});
}

/** Without virt-api: what virtctl asks of Kubernetes itself. The definitions are put there before it is recorded, and before it is replayed. */
async function playVirtctl(cluster: Cluster, recorder: Recorder): Promise<void> {
  const virtctl = (...args: string[]) =>
    promisify(execFile)('bin/virtctl', args, { timeout: 20_000, env: { ...process.env, KUBECONFIG: cluster.kubeconfig } }).catch(() => {});
  await cluster.must(['apply', '-f', 'deploy/crds']);
  recorder.forget();
  await cluster.must(['create', '-f', 'test/manifests/001-vm-cirros.yaml']);
  await virtctl('ls');
  await virtctl('ls', '-A', '-o', 'json');
  await virtctl('why', 'vm-cirros');
  await virtctl('version');
  await virtctl('start', 'vm-cirros');
}
