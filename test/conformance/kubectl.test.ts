import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../src/testing/until.ts';
import { Cluster } from './cluster.ts';
import { deployment, NO_IMAGE, pod, service } from './manifests.ts';

/** The numbers are those of the list of checks in the requirements of the embedded control plane. */
describe('kubectl and the built-in kinds', { timeout: 110_000, concurrency: 2 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start();
  });
  after(() => cluster[Symbol.asyncDispose]());

  /** A namespace of a test's own. */
  async function namespace(name: string): Promise<(args: readonly string[]) => string[]> {
    await cluster.must(['create', 'ns', name]);
    return (args) => ['-n', name, ...args];
  }

  test('1-2: version and health', async () => {
    assert.match(await cluster.must(['version']), /Server Version: v1\.3\d\.\d+/);
    assert.match(await cluster.must(['version', '--short'], { isDebian: true }), /Server Version: v1\.3\d\.\d+/);
    assert.equal(await cluster.must(['get', '--raw', '/readyz']), 'ok');
    assert.match(await cluster.must(['get', '--raw', '/livez?verbose']), /^\[\+\].* ok$/m);
  });

  for (const isDebian of [false, true]) {
    test(`3-6: discovery and the first namespaces${isDebian ? ', with 1.20' : ''}`, async () => {
      const { code, stdout, stderr } = await cluster.kubectl(['api-resources', '--verbs=list', '-o', 'name'], { isDebian });
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      for (const name of ['pods', 'deployments.apps', 'customresourcedefinitions.apiextensions.k8s.io', 'leases.coordination.k8s.io']) {
        assert.ok(stdout.split('\n').includes(name), name);
      }
      const versions = (await cluster.must(['api-versions'], { isDebian })).split('\n');
      for (const version of ['v1', 'apps/v1', 'rbac.authorization.k8s.io/v1', 'events.k8s.io/v1'])
        assert.ok(versions.includes(version), version);
      const namespaces = await cluster.must(['get', 'ns'], { isDebian });
      for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
        assert.match(namespaces, new RegExp(`^${name} +Active`, 'm'));
      }
    });
  }

  test('5: the plain list of groups is there beside the aggregated one', async () => {
    assert.equal(JSON.parse(await cluster.must(['get', '--raw', '/apis'])).kind, 'APIGroupList');
  });

  test('7-10: what kubectl sends as protobuf is stored as if it were JSON', async () => {
    const inside = await namespace('protobuf');
    assert.match(await cluster.must(['get', 'ns', 'protobuf', '--show-labels']), /kubernetes\.io\/metadata\.name=protobuf/);
    await cluster.must(inside(['create', 'cm', 'c', '--from-literal=a=b']));
    const { metadata, ...config } = JSON.parse(await cluster.must(inside(['get', 'cm', 'c', '-o', 'json'])));
    assert.deepEqual(config, { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } });
    assert.deepEqual(Object.keys(metadata).sort(), ['creationTimestamp', 'name', 'namespace', 'resourceVersion', 'uid']);
    assert.ok(Date.now() - Date.parse(metadata.creationTimestamp) < 60_000);
    const secret = JSON.parse(await cluster.must(inside(['create', 'secret', 'generic', 's', '--from-literal=p=x', '-o', 'json'])));
    assert.deepEqual([secret.data, secret.type], [{ p: 'eA==' }, 'Opaque']);
    const made = JSON.parse(await cluster.must(inside(['create', 'deployment', 'd', `--image=${NO_IMAGE}`, '--replicas=0', '-o', 'json'])));
    assert.equal(made.spec.replicas, 0);
  });

  test('7-10: every other kind that kubectl makes from flags', async () => {
    const inside = await namespace('flags');
    const commands = [
      ['create', 'sa', 'robot'],
      ['create', 'role', 'r', '--verb=get,list', '--resource=pods,deployments.apps'],
      ['create', 'rolebinding', 'rb', '--role=r', '--serviceaccount=flags:robot'],
      ['create', 'job', 'j', `--image=${NO_IMAGE}`],
      ['create', 'cronjob', 'cj', `--image=${NO_IMAGE}`, '--schedule=* * * * *'],
      ['create', 'pdb', 'p', '--selector=app=a', '--min-available=1'],
      ['create', 'service', 'clusterip', 'svc', '--tcp=80:8080'],
      ['create', 'ingress', 'i', '--rule=example.com/*=svc:80'],
      ['create', 'quota', 'q', '--hard=pods=3,cpu=1500m'],
      ['create', 'priorityclass', 'flags-high', '--value=10'],
      ['create', 'clusterrole', 'flags-cr', '--verb=get', '--non-resource-url=/metrics'],
      ['create', 'clusterrolebinding', 'flags-crb', '--clusterrole=flags-cr', '--user=bob'],
    ];
    for (const command of commands) await cluster.must(inside(command));
    const ingress = JSON.parse(await cluster.must(inside(['get', 'ingress', 'i', '-o', 'json'])));
    assert.equal(ingress.spec.rules[0].http.paths[0].backend.service.port.number, 80);
    const quota = JSON.parse(await cluster.must(inside(['get', 'quota', 'q', '-o', 'json'])));
    assert.deepEqual(quota.spec.hard, { cpu: '1500m', pods: '3' });
    const budget = JSON.parse(await cluster.must(inside(['get', 'pdb', 'p', '-o', 'json'])));
    assert.equal(budget.spec.minAvailable, 1);
  });

  test('auth can-i and whoami are asked in protobuf', async () => {
    assert.equal((await cluster.must(['auth', 'can-i', 'create', 'pods'])).trim(), 'yes');
    assert.match(await cluster.must(['auth', 'whoami']), /kubernetes-admin/);
    assert.match(await cluster.must(['auth', 'can-i', '--list']), /\*\.\*/);
  });

  test('11-12: what is there already, and what is nowhere', async () => {
    const inside = await namespace('twice');
    await cluster.must(inside(['create', 'cm', 'c', '--from-literal=a=b']));
    assert.match(await cluster.refused(inside(['create', 'cm', 'c', '--from-literal=a=b'])), /AlreadyExists|already exists/);
    assert.match(await cluster.refused(['-n', 'nope', 'create', 'cm', 'x', '--from-literal=a=b']), /namespaces "nope" not found/);
  });

  test('13-15: a misspelt field is refused, warned about, or dropped', async () => {
    const inside = await namespace('typo');
    const typo = cluster.file('typo.json', pod('p', { containerz: [] }));
    const apply = (...more: string[]) => inside(['apply', '-f', typo, ...more]);
    assert.match(await cluster.refused(apply()), /strict decoding error: unknown field "spec\.containerz"/);
    assert.match(await cluster.refused(apply(), { isDebian: true }), /ValidationError.*containerz/);
    assert.match((await cluster.kubectl(apply('--validate=warn'))).stderr, /Warning: unknown field "spec\.containerz"/);
    await cluster.must(inside(['delete', 'pod', 'p', '--now']));
    assert.equal((await cluster.kubectl(apply('--validate=false'))).stderr, '');
    assert.doesNotMatch(await cluster.must(inside(['get', 'pod', 'p', '-o', 'jsonpath={.spec}'])), /containerz/);
  });

  for (const isDebian of [false, true]) {
    test(`16-18: apply, apply again, diff${isDebian ? ', with 1.20' : ''}`, async () => {
      const name = isDebian ? 'apply-old' : 'apply';
      const inside = await namespace(name);
      const says = async (file: string) => (await cluster.must(inside(['apply', '-f', file]), { isDebian })).trim();
      const one = cluster.file(`${name}-1.json`, deployment('d', 0));
      const two = cluster.file(`${name}-2.json`, deployment('d', 2));
      assert.equal(await says(one), 'deployment.apps/d created');
      assert.equal(await says(two), 'deployment.apps/d configured');
      assert.equal(await says(two), 'deployment.apps/d unchanged');
      assert.match(await says(cluster.file(`${name}-s1.json`, service('s', [80, 81]))), /created/);
      const address = await cluster.must(inside(['get', 'svc', 's', '-o', 'jsonpath={.spec.clusterIP}']));
      assert.match(await says(cluster.file(`${name}-s2.json`, service('s', [81]))), /configured/);
      const after = JSON.parse(await cluster.must(inside(['get', 'svc', 's', '-o', 'json'])));
      assert.deepEqual([after.spec.ports.map(({ port }: { port: number }) => port), after.spec.clusterIP], [[81], address]);
      const { code, stdout } = await cluster.kubectl(inside(['diff', '-f', one]), { isDebian });
      const changed = stdout
        .split('\n')
        .filter((line) => /^[-+] /.test(line) && !line.includes('last-applied') && !/^[-+]\s+\{/.test(line));
      assert.equal(code, 1);
      assert.deepEqual(
        changed.map((line) => line.replace(/\s+/g, ' ')).filter((line) => !line.includes('generation')),
        ['- replicas: 2', '+ replicas: 0'],
      );
      assert.equal(await cluster.must(inside(['get', 'deploy', 'd', '-o', 'jsonpath={.spec.replicas}'])), '2');
    });
  }

  test('43-44: pages, and field selectors', async () => {
    const inside = await namespace('pages');
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await cluster.must(inside(['create', 'cm', name]));
    const seen: string[] = [];
    const left: number[] = [];
    let token = '';
    do {
      const page = JSON.parse(await cluster.must(['get', '--raw', `/api/v1/namespaces/pages/configmaps?limit=2&continue=${token}`]));
      seen.push(...page.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name));
      left.push(page.metadata.remainingItemCount ?? 0);
      token = encodeURIComponent(page.metadata.continue ?? '');
    } while (token !== '');
    assert.deepEqual(
      seen.filter((name) => names.includes(name)),
      names,
    );
    assert.deepEqual(
      left,
      [...left].sort((a, b) => b - a),
    );
    assert.match(await cluster.refused(['get', '--raw', '/api/v1/configmaps?limit=2&continue=bogus']), /continue key is not valid/);
    await cluster.must(inside(['apply', '-f', cluster.file('placed.json', pod('placed', { nodeName: 'n1' }))]));
    const found = await cluster.must(['get', 'pods', '-A', '--field-selector', 'spec.nodeName=n1,status.phase=Pending', '-o', 'name']);
    assert.equal(found.trim(), 'pod/placed');
    assert.match(await cluster.refused(['get', 'pods', '--field-selector', 'foo=bar']), /field label not supported: foo/);
  });

  test('46: every way to treat what an object owns', { timeout: 60_000 }, async () => {
    const inside = await namespace('cascade');
    for (const [policy, survives] of [
      ['orphan', true],
      ['foreground', false],
      ['background', false],
    ] as const) {
      await cluster.must(inside(['create', 'cm', `owner-${policy}`]));
      const uid = await cluster.must(inside(['get', 'cm', `owner-${policy}`, '-o', 'jsonpath={.metadata.uid}']));
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${policy}`, uid, blockOwnerDeletion: true };
      const owned = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `owned-${policy}`, ownerReferences: [reference] } };
      await cluster.must(inside(['create', '-f', cluster.file(`owned-${policy}.json`, owned)]));
      await cluster.must(inside(['delete', 'cm', `owner-${policy}`, `--cascade=${policy}`]));
      const left = async () =>
        await cluster.kubectl(inside(['get', 'cm', `owned-${policy}`, '-o', 'jsonpath={.metadata.ownerReferences}']));
      if (survives) assert.deepEqual(await left(), { code: 0, stdout: '', stderr: '' });
      else await until(async () => (await left()).code !== 0, `owned-${policy} to go`);
    }
  });

  test('47: a namespace goes with everything in it', async () => {
    const inside = await namespace('going');
    await cluster.must(inside(['create', 'cm', 'c']));
    const held = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', finalizers: ['ex.io/hold'] } };
    await cluster.must(inside(['create', '-f', cluster.file('held.json', held)]));
    await cluster.must(['delete', 'ns', 'going', '--wait=false']);
    assert.equal(await cluster.must(['get', 'ns', 'going', '-o', 'jsonpath={.status.phase}']), 'Terminating');
    assert.match(await cluster.refused(inside(['create', 'cm', 'late'])), /Forbidden|forbidden.*being terminated/s);
    await cluster.must(inside(['patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']));
    await cluster.must(['wait', 'ns/going', '--for=delete', '--timeout=10s']);
  });

  test('drain asks for evictions, cordon and taint patch a node', async () => {
    await cluster.must(['create', '-f', cluster.file('node.json', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n9' } })]);
    await cluster.must(['cordon', 'n9']);
    await cluster.must(['taint', 'node', 'n9', 'a=b:NoSchedule']);
    const node = JSON.parse(await cluster.must(['get', 'node', 'n9', '-o', 'json']));
    assert.equal(node.spec.unschedulable, true);
    assert.ok(node.spec.taints.some(({ key }: { key: string }) => key === 'a'));
    await cluster.must(['drain', 'n9', '--timeout=5s']);
  });
});
