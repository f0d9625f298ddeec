import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeWithEachKubectl } from './each-kubectl.ts';
import { eventually } from './eventually.ts';
import { deployment, NO_IMAGE, pod, replicaSet, service } from './manifests.ts';

/** The numbers are those of the list of checks in the requirements of the embedded control plane. */
describeWithEachKubectl('built-in kinds', ({ cluster, isDebian, since, namespace }) => {
  const must = (args: readonly string[]) => cluster().must(args);
  const refused = (args: readonly string[]) => cluster().refused(args);
  const json = async (args: readonly string[]) => JSON.parse(await must([...args, '-o', 'json']));

  test('1: the version of the server', async () => {
    assert.match(await must(['version', ...(isDebian ? ['--short'] : [])]), /Server Version: v1\.3\d\.\d+/);
  });

  test('2: health, in a word and in detail', async () => {
    assert.equal(await must(['get', '--raw', '/readyz']), 'ok');
    assert.match(await must(['get', '--raw', '/livez?verbose']), /^\[\+\]ping ok\n(\[\+\].* ok\n)*livez check passed\n$/);
    assert.match(await must(['get', '--raw', '/readyz?verbose&exclude=etcd']), /^\[\+\]etcd excluded: ok$/m);
    assert.equal(await must(['get', '--raw', '/readyz/etcd']), 'ok');
  });

  test('3: every resource that can be listed', async () => {
    const { code, stdout, stderr } = await cluster().kubectl(['api-resources', '--verbs=list', '-o', 'name']);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const names = stdout.split('\n');
    const wanted = ['pods', 'deployments.apps', 'customresourcedefinitions.apiextensions.k8s.io', 'leases.coordination.k8s.io'];
    assert.deepEqual(
      wanted.filter((name) => !names.includes(name)),
      [],
    );
  });

  test('4: every version', async () => {
    const versions = (await must(['api-versions'])).split('\n');
    const wanted = ['v1', 'apps/v1', 'rbac.authorization.k8s.io/v1', 'events.k8s.io/v1'];
    assert.deepEqual(
      wanted.filter((name) => !versions.includes(name)),
      [],
    );
  });

  test('5: the groups in both forms, each by the name it was asked for', async () => {
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const answers = [
      await cluster().request('/apis', { accept: aggregated }),
      await cluster().request('/apis', { accept: 'application/json' }),
    ];
    const kinds = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { kind: string }).kind));
    assert.deepEqual(kinds, ['APIGroupDiscoveryList', 'APIGroupList']);
    assert.match(answers[0]?.headers.get('content-type') ?? '', /as=APIGroupDiscoveryList/);
    assert.equal(JSON.parse(await must(['get', '--raw', '/apis'])).kind, 'APIGroupList');
  });

  test('6: the first namespaces', async () => {
    const namespaces = await must(['get', 'ns']);
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
      assert.match(namespaces, new RegExp(`^${name} +Active`, 'm'));
  });

  test('7: a namespace has its label, its service account and the root authority', async () => {
    const inside = await namespace('t7');
    assert.match(await must(['get', 'ns', 't7', '--show-labels']), /kubernetes\.io\/metadata\.name=t7/);
    for (const thing of ['sa/default', 'cm/kube-root-ca.crt']) {
      await eventually(
        async () => (await cluster().kubectl(inside('get', thing))).code === 0,
        () => `for ${thing} in a new namespace`,
      );
    }
  });

  test('8: a ConfigMap has what was said, and nothing else', async () => {
    const inside = await namespace('t8');
    await must(inside('create', 'cm', 'c', '--from-literal=a=b'));
    assert.equal(await must(inside('get', 'cm', 'c', '-o', 'jsonpath={.data.a}')), 'b');
    const { metadata: shown, ...config } = await json(inside('get', 'cm', 'c'));
    assert.deepEqual(config, { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } });
    const { managedFields: _, ...metadata } = shown; // kubectl before 1.21 does not hide them
    assert.deepEqual(Object.keys(metadata).sort(), ['creationTimestamp', 'name', 'namespace', 'resourceVersion', 'uid']);
    assert.ok(Date.now() - Date.parse(metadata.creationTimestamp) < 60_000);
  });

  test('9: a Secret is Opaque, its data in base64', async () => {
    const inside = await namespace('t9');
    const { data, type } = await json(inside('create', 'secret', 'generic', 's', '--from-literal=p=x'));
    assert.deepEqual([data, type], [{ p: 'eA==' }, 'Opaque']);
  });

  test('10: zero is not nothing', async () => {
    const inside = await namespace('t10');
    const made = await json(inside('create', 'deployment', 'd', `--image=${NO_IMAGE}`, '--replicas=0'));
    assert.equal(made.spec.replicas, 0);
  });

  test('7-10: every other kind that kubectl makes from flags', async () => {
    const inside = await namespace('flags');
    const commands = [
      ['create', 'sa', 'robot'],
      ['create', 'role', 'r', '--verb=get,list', '--resource=pods,deployments.apps'],
      ['create', 'rolebinding', 'rb', '--role=r', '--serviceaccount=flags:robot'],
      ['create', 'job', 'j', `--image=${NO_IMAGE}`],
      ['create', 'service', 'clusterip', 'svc', '--tcp=80:8080'],
      ['create', 'ingress', 'i', '--rule=example.com/*=svc:80'],
      ['create', 'quota', 'q', '--hard=pods=3,cpu=1500m'],
      ['create', 'clusterrole', 'flags-cr', '--verb=get', '--non-resource-url=/metrics'],
      ['create', 'clusterrolebinding', 'flags-crb', '--clusterrole=flags-cr', '--user=bob'],
    ];
    // 1.20 knows these kinds in beta versions that are gone
    const newer = [
      ['create', 'cronjob', 'cj', `--image=${NO_IMAGE}`, '--schedule=* * * * *'],
      ['create', 'pdb', 'p', '--selector=app=a', '--min-available=1'],
      ['create', 'priorityclass', 'flags-high', '--value=10'],
    ];
    for (const command of isDebian ? commands : [...commands, ...newer]) await must(inside(...command));
    const ingress = await json(inside('get', 'ingress', 'i'));
    assert.equal(ingress.spec.rules[0].http.paths[0].backend.service.port.number, 80);
    const quota = await json(inside('get', 'quota', 'q'));
    assert.deepEqual(quota.spec.hard, { cpu: '1500m', pods: '3' });
  });

  test('11: what is there already', async () => {
    const inside = await namespace('t11');
    await must(inside('create', 'cm', 'c', '--from-literal=a=b'));
    const again = inside('create', 'cm', 'c', '--from-literal=a=b');
    const { code, stderr } = await cluster().kubectl(again);
    assert.equal(code, 1);
    assert.match(stderr, /AlreadyExists|already exists/);
    assert.match(await refused([...again, '-v=6']), /\b409\b/);
  });

  test('12: a namespace that is not there is named', async () => {
    assert.match(await refused(['-n', 'nope', 'create', 'cm', 'x', '--from-literal=a=b']), /namespaces "nope" not found/);
  });

  test('13: a misspelt field is refused', async () => {
    const inside = await namespace('t13');
    const typo = cluster().file('t13.json', pod('p', { containerz: [] }));
    const wanted = isDebian ? /ValidationError.*containerz/ : /strict decoding error: unknown field "spec\.containerz"/;
    assert.match(await refused(inside('apply', '-f', typo)), wanted);
  });

  test('14: a misspelt field is warned about', { skip: since('1.25', '--validate=warn') }, async () => {
    const inside = await namespace('t14');
    const typo = cluster().file('t14.json', pod('p', { containerz: [] }));
    const { code, stderr } = await cluster().kubectl(inside('apply', '-f', typo, '--validate=warn'));
    assert.equal(code, 0);
    assert.match(stderr, /Warning: unknown field "spec\.containerz"/);
  });

  test('15: a misspelt field is dropped in silence', async () => {
    const inside = await namespace('t15');
    const typo = cluster().file('t15.json', pod('p', { containerz: [] }));
    const { code, stderr } = await cluster().kubectl(inside('apply', '-f', typo, '--validate=false'));
    // the old one sends no fieldValidation, so it is told what the server does by itself: warn
    assert.deepEqual([code, isDebian ? '' : stderr], [0, '']);
    assert.doesNotMatch(await must(inside('get', 'pod', 'p', '-o', 'jsonpath={.spec}')), /containerz/);
  });

  test('16: apply says created, configured, unchanged', async () => {
    const inside = await namespace('t16');
    const says = async (replicas: number) =>
      (await must(inside('apply', '-f', cluster().file(`t16-${replicas}.json`, deployment('d', replicas))))).trim();
    assert.deepEqual(
      [await says(0), await says(2), await says(2)],
      ['deployment.apps/d created', 'deployment.apps/d configured', 'deployment.apps/d unchanged'],
    );
  });

  test('17: a port that is gone from the file is gone from the Service, which keeps its address', async () => {
    const inside = await namespace('t17');
    await must(inside('apply', '-f', cluster().file('t17-1.json', service('s', [80, 81]))));
    const before = await json(inside('get', 'svc', 's'));
    await must(inside('apply', '-f', cluster().file('t17-2.json', service('s', [81]))));
    const { spec } = await json(inside('get', 'svc', 's'));
    assert.deepEqual([spec.ports.map(({ port }: { port: number }) => port), spec.clusterIP], [[81], before.spec.clusterIP]);
    assert.ok(before.spec.clusterIP);
  });

  test('18: diff shows what apply would change, and changes nothing', async () => {
    const inside = await namespace('t18');
    // a kind without a controller: kubectl before 1.21 compares managedFields, which a controller changes beside it
    const file = (colour: string) =>
      cluster().file(`t18-${colour}.json`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { colour } });
    await must(inside('apply', '-f', file('red')));
    const { code, stdout } = await cluster().kubectl(inside('diff', '-f', file('blue')));
    const changed = stdout
      .split('\n')
      .filter((line) => /^[-+] /.test(line) && !line.includes('last-applied') && !/^[-+]\s+\{/.test(line))
      .map((line) => line.replace(/\s+/g, ' '));
    assert.equal(code, 1);
    assert.deepEqual(
      changed.filter((line) => !line.includes('time:')),
      ['- colour: red', '+ colour: blue'],
    );
    assert.equal(await must(inside('get', 'cm', 'c', '-o', 'jsonpath={.data.colour}')), 'red');
  });

  test('43: pages hold every item once, and count down', async () => {
    const inside = await namespace('t43');
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await must(inside('create', 'cm', name));
    const seen: string[] = [];
    const left: number[] = [];
    let token = '';
    do {
      const page = JSON.parse(await must(['get', '--raw', `/api/v1/namespaces/t43/configmaps?limit=2&continue=${token}`]));
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
    assert.match(await refused(['get', '--raw', '/api/v1/configmaps?limit=2&continue=bogus']), /continue key is not valid/);
  });

  test('44: field selectors, and fields that cannot be selected', async () => {
    const inside = await namespace('t44');
    for (const [name, node] of [
      ['running', 'n1'],
      ['pending', 'n1'],
      ['elsewhere', 'n2'],
    ] as const)
      await must(inside('apply', '-f', cluster().file(`t44-${name}.json`, pod(name, { nodeName: node }))));
    for (const name of ['running', 'elsewhere'])
      await cluster().mustAsCurrent(
        inside('patch', 'pod', name, '--subresource=status', '--type=merge', '-p', '{"status":{"phase":"Running"}}'),
      );
    const found = await must(['get', 'pods', '-A', '--field-selector', 'spec.nodeName=n1,status.phase=Running', '-o', 'name']);
    assert.equal(found.trim(), 'pod/running');
    assert.match(await refused(['get', 'pods', '--field-selector', 'foo=bar']), /field label not supported: foo/);
  });

  test('46: every way to treat what an object owns', async () => {
    const inside = await namespace('t46');
    const ownedBy = async (owner: string) => {
      await must(inside('create', '-f', cluster().file(`t46-${owner}.json`, deployment(owner, 0))));
      const uid = await must(inside('get', 'deploy', owner, '-o', 'jsonpath={.metadata.uid}'));
      const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: owner, uid, controller: true, blockOwnerDeletion: true };
      const owned = replicaSet(`${owner}-rs`) as { metadata: object };
      owned.metadata = { ...owned.metadata, labels: { app: owner }, ownerReferences: [reference], finalizers: ['ex.io/hold'] };
      await must(inside('create', '-f', cluster().file(`t46-${owner}-rs.json`, owned)));
      return {
        letGo: () => must(inside('patch', 'rs', `${owner}-rs`, '--type=merge', '-p', '{"metadata":{"finalizers":null}}')),
        isThere: async (thing: string) => (await cluster().kubectl(inside('get', thing))).code === 0,
      };
    };
    const gone = (thing: string, { isThere }: { isThere: (thing: string) => Promise<boolean> }) =>
      eventually(
        async () => !(await isThere(thing)),
        () => `for ${thing} to go`,
      );

    const orphan = await ownedBy('orphan');
    await must(inside('delete', 'deploy', 'orphan', '--cascade=orphan'));
    assert.equal(await must(inside('get', 'rs', 'orphan-rs', '-o', 'jsonpath={.metadata.ownerReferences}')), '');
    await orphan.letGo();

    const foreground = await ownedBy('foreground');
    await must(inside('delete', 'deploy', 'foreground', '--cascade=foreground', '--wait=false'));
    assert.match(await must(inside('get', 'deploy', 'foreground', '-o', 'jsonpath={.metadata.finalizers}')), /foregroundDeletion/);
    await eventually(
      async () => (await must(inside('get', 'rs', 'foreground-rs', '-o', 'jsonpath={.metadata.deletionTimestamp}'))) !== '',
      () => 'for the owned to be deleted first',
    );
    assert.ok(await foreground.isThere('deploy/foreground'));
    await foreground.letGo();
    await gone('deploy/foreground', foreground);

    const background = await ownedBy('background');
    await must(inside('delete', 'deploy', 'background'));
    assert.ok(await background.isThere('rs/background-rs')); // the owner went first
    await eventually(
      async () => (await must(inside('get', 'rs', 'background-rs', '-o', 'jsonpath={.metadata.deletionTimestamp}'))) !== '',
      () => 'for the owned to be deleted after',
    );
    await background.letGo();
    await gone('rs/background-rs', background);
  });

  test('47: a namespace goes with everything in it', async () => {
    const inside = await namespace('t47');
    await must(inside('create', 'cm', 'c'));
    const held = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', finalizers: ['ex.io/hold'] } };
    await must(inside('create', '-f', cluster().file('t47.json', held)));
    await must(['delete', 'ns', 't47', '--wait=false']);
    assert.equal(await must(['get', 'ns', 't47', '-o', 'jsonpath={.status.phase}']), 'Terminating');
    assert.match(await refused(inside('create', 'cm', 'late')), /Forbidden|forbidden.*being terminated/s);
    await must(inside('patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'));
    await eventually(
      async () => (await cluster().kubectl(['get', 'ns', 't47'])).code !== 0,
      () => 'for the namespace to go',
    );
  });

  test('50: a rollout is watched, paused, continued, undone, restarted, scaled, and has a history', async () => {
    const inside = await namespace('t50');
    await using _node = await cluster().node('t50');
    await must(inside('create', '-f', cluster().file('t50.json', deployment('d', 3))));
    const rollout = (...words: string[]) => must(inside('rollout', ...words));
    const status = () => rollout('status', 'deploy/d', '--timeout=60s');
    assert.match(await status(), /deployment "d" successfully rolled out/);
    await must(inside('set', 'image', 'deploy/d', 'c=registry.example/nothing:2'));
    assert.match(await status(), /successfully rolled out/);
    await must(inside('annotate', 'deploy/d', 'kubernetes.io/change-cause=the second'));
    await eventually(
      async () => /2 +the second/.test(await rollout('history', 'deploy/d')),
      () => 'for the history to tell why',
    );
    await rollout('pause', 'deploy/d');
    await must(inside('set', 'image', 'deploy/d', 'c=registry.example/nothing:3'));
    assert.match(await refused(inside('rollout', 'undo', 'deploy/d')), /cannot rollback a paused deployment/);
    await rollout('resume', 'deploy/d');
    await status();
    assert.match(await rollout('history', 'deploy/d', '--revision=3'), /registry\.example\/nothing:3/);
    await rollout('undo', 'deploy/d', '--to-revision=1');
    await status();
    assert.equal(await must(inside('get', 'deploy', 'd', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')), NO_IMAGE);
    assert.match(await rollout('history', 'deploy/d'), /^2 .*\n3 .*\n4 /m);
    await rollout('restart', 'deploy/d');
    await status();
    await must(inside('scale', 'deploy/d', '--replicas=1', '--current-replicas=3'));
    await eventually(
      async () => /^d +1\/1 +1 +1 /m.test(await must(inside('get', 'deploy'))),
      () => 'for one Pod',
    );
    assert.match(
      await must(inside('get', 'deploy,rs', '-o', 'wide')),
      /deployment.apps\/d .* app=d\n[\s\S]*replicaset.apps\/d-\w+ +1 +1 +1/,
    );
    assert.match(await must(inside('describe', 'deploy', 'd')), /NewReplicaSet: +d-\w+ \(1\/1 replicas created\)[\s\S]*ScalingReplicaSet/);
    await must(inside('delete', 'deploy', 'd', '--cascade=foreground', '--timeout=60s'));
    assert.equal(await must(inside('get', 'rs,pods', '-o', 'name')), '');
  });

  test('50: a DaemonSet is rolled out, undone and has a history, too', async () => {
    const inside = await namespace('t50-ds');
    await using _node = await cluster().node('t50-ds');
    const { spec, ...rest } = deployment('d', 1) as { spec: { selector: object; template: { spec: object } } };
    const { selector, template } = spec;
    const nodeSelector = { 'kubernetes.io/hostname': 'node-of-t50-ds' };
    const set = { ...rest, kind: 'DaemonSet', spec: { selector, template: { ...template, spec: { ...template.spec, nodeSelector } } } };
    await must(inside('create', '-f', cluster().file('t50-ds.json', set)));
    const status = () => must(inside('rollout', 'status', 'ds/d', '--timeout=60s'));
    await status();
    await must(inside('set', 'image', 'ds/d', 'c=registry.example/nothing:2'));
    assert.match(await status(), /successfully rolled out/);
    assert.match(await must(inside('rollout', 'history', 'ds/d', '--revision=2')), /nothing:2/);
    await must(inside('rollout', 'undo', 'ds/d'));
    await status();
    assert.equal(await must(inside('get', 'ds', 'd', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')), NO_IMAGE);
    assert.match(await must(inside('rollout', 'history', 'ds/d')), /^2 .*\n3 /m);
    await eventually(
      async () => /^d +1 +1 +1 +1 +1 +kubernetes\.io\/hostname=node-of-t50-ds/m.test(await must(inside('get', 'ds', '-o', 'wide'))),
      () => 'for one Pod',
    );
  });

  test('50: a rollout that does not come to its end says so', async () => {
    const inside = await namespace('t50-late');
    await using node = await cluster().node('t50-late');
    node.behave(() => 'unready');
    const slow = deployment('d', 1) as { spec: object };
    slow.spec = { ...slow.spec, progressDeadlineSeconds: 2 };
    await must(inside('create', '-f', cluster().file('t50-late.json', slow)));
    assert.match(await refused(inside('rollout', 'status', 'deploy/d', '--timeout=60s')), /exceeded its progress deadline/);
  });

  test('managedFields: who created, replaced, applied and edited, and forged ones take nothing away', async () => {
    const inside = await namespace('managed');
    const forged = [{ manager: 'me', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }];
    const object = (value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', managedFields: forged },
      data: { value },
    });
    const file = (value: string) => cluster().file(`managed-${value}.json`, object(value));
    await must(inside('create', '-f', file('1'), '--save-config'));
    await must(inside('replace', '-f', file('2')));
    await must(inside('apply', '-f', cluster().file('managed-3.json', { ...object('3'), metadata: { name: 'c' } })));
    assert.equal((await cluster().kubectl(inside('diff', '-f', file('4')))).code, 1);
    await cluster().must(inside('edit', 'cm', 'c'), { env: { KUBE_EDITOR: 'sed -i \'s/value: "3"/value: "5"/\'' } });
    const { metadata, data } = await json(inside('get', 'cm', 'c', ...(isDebian ? [] : ['--show-managed-fields'])));
    assert.equal(data.value, '5');
    const owner = metadata.managedFields.find(
      ({ fieldsV1 }: { fieldsV1: Record<string, object> }) => 'f:value' in (fieldsV1['f:data'] ?? {}),
    );
    assert.deepEqual([owner.manager, owner.operation], ['kubectl-edit', 'Update']);
  });

  test('19-22: server-side apply, its conflicts, force, and what is stated no more', async () => {
    const inside = await namespace('ssa');
    const file = (name: string, replicas?: number) => {
      const made = deployment('d', 1) as { spec: object };
      return cluster().file(`ssa-${name}.json`, { ...made, spec: { ...made.spec, replicas } }); // undefined is not written
    };
    const apply = (...args: string[]) => inside('apply', '--server-side', ...args);
    assert.match(await must(apply('-f', file('one', 1))), /serverside-applied/);
    const { metadata } = await json(inside('get', 'deploy', 'd', ...(isDebian ? [] : ['--show-managed-fields'])));
    const [own] = metadata.managedFields.filter(({ operation }: { operation: string }) => operation === 'Apply');
    assert.deepEqual([own.manager, own.fieldsV1['f:spec']['f:replicas']], ['kubectl', {}]);
    const error = await refused(apply('--field-manager=other', '-f', file('nine', 9)));
    assert.match(error, /conflict with "kubectl".*\.spec\.replicas/s);
    await must(apply('--field-manager=other', '--force-conflicts', '-f', file('nine', 9)));
    await must(apply('-f', file('none')));
    assert.equal(await must(inside('get', 'deploy', 'd', '-o', 'jsonpath={.spec.replicas}')), '9');
    await must(apply('--field-manager=other', '-f', file('none')));
    assert.equal(await must(inside('get', 'deploy', 'd', '-o', 'jsonpath={.spec.replicas}')), '1'); // nobody's any more: the default
  });

  test('what was applied on the client is applied on the server, and what is stated no more goes', {
    skip: since('1.26', 'the migration'),
  }, async () => {
    const inside = await namespace('migrated');
    const file = (name: string, data: object) =>
      cluster().file(`migrated-${name}.json`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data });
    await must(inside('apply', '-f', file('client', { a: '1', b: '1' })));
    assert.equal((await cluster().kubectl(inside('diff', '--server-side', '-f', file('server', { a: '2' })))).code, 1);
    await must(inside('apply', '--server-side', '-f', file('server', { a: '2' })));
    assert.equal(await must(inside('get', 'cm', 'c', '-o', 'jsonpath={.data}')), '{"a":"2"}');
    assert.equal((await cluster().kubectl(inside('diff', '--server-side', '-f', file('server', { a: '2' })))).code, 0);
  });

  test('drain asks for evictions, cordon and taint patch a node', { skip: since('1.22', 'evictions of policy/v1') }, async () => {
    await must(['create', '-f', cluster().file('node.json', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n9' } })]);
    await must(['cordon', 'n9']);
    await must(['taint', 'node', 'n9', 'a=b:NoSchedule']);
    const node = await json(['get', 'node', 'n9']);
    assert.equal(node.spec.unschedulable, true);
    assert.ok(node.spec.taints.some(({ key }: { key: string }) => key === 'a'));
    await must(['drain', 'n9', '--timeout=5s']);
  });

  test('drain is held to a budget, and goes on when it allows more', { skip: since('1.22', 'evictions of policy/v1') }, async () => {
    const inside = await namespace('drain');
    await using _node = await cluster().node('drain');
    await must(inside('create', '-f', cluster().file('drain.json', deployment('d', 2))));
    await must(inside('create', 'pdb', 'd', '--selector=app=d', '--min-available=2'));
    await must(inside('rollout', 'status', 'deploy/d', '--timeout=60s'));
    // Until the budget is counted evictions are refused for that reason, and kubectl tries again later than this drain lasts.
    await must(inside('wait', 'pdb/d', '--for=jsonpath={.status.currentHealthy}=2', '--timeout=30s'));
    const budget = /^NAME +MIN AVAILABLE +MAX UNAVAILABLE +ALLOWED DISRUPTIONS +AGE\nd +2 +N\/A +0 /;
    assert.match(await must(inside('get', 'pdb')), budget);
    const uids = () => must(inside('get', 'pods', '-o', 'jsonpath={.items[*].metadata.uid}')); // a name that is free may be taken again
    const before = await uids();
    const drain = ['drain', 'node-of-drain', '--force', '--pod-selector=app=d'];
    assert.match(await refused([...drain, '--timeout=4s']), /Cannot evict pod as it would violate the pod's disruption budget/);
    assert.equal(await uids(), before);
    await must(inside('patch', 'pdb', 'd', '--type=merge', '-p', '{"spec":{"minAvailable":0}}'));
    await must(inside('wait', 'pdb/d', '--for=jsonpath={.status.disruptionsAllowed}=2', '--timeout=30s'));
    await must([...drain, '--timeout=30s']);
    const left = await uids();
    for (const uid of before.split(' ')) assert.ok(!left.includes(uid), `${uid} is still there`);
  });
});
