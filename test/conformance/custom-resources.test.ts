import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { Cluster } from './cluster.ts';
import { WIDGET_CRD, widget } from './manifests.ts';

/** The numbers are those of the list of checks in the requirements of the embedded control plane. */
describe('kubectl and custom resources', { timeout: 110_000, concurrency: 2 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await Cluster.start();
    // 23-24: a definition is in force as soon as it is written; nobody waits between the two.
    await cluster.must(['apply', '-f', cluster.file('crd.json', WIDGET_CRD)]);
    await cluster.must(['apply', '-f', cluster.file('first.json', widget('first', { size: 7 }))]);
  });
  after(() => cluster[Symbol.asyncDispose]());

  /** A widget of a test's own. */
  async function own(name: string, spec?: object, metadata?: object): Promise<string> {
    await cluster.must(['apply', '-f', cluster.file(`${name}.json`, widget(name, spec, metadata))]);
    return name;
  }
  const read = async (name: string) => JSON.parse(await cluster.must(['get', 'wd', name, '-o', 'json']));
  const patch = (name: string, body: object, ...more: string[]) => [
    'patch',
    'wd',
    name,
    '--type=merge',
    '-p',
    JSON.stringify(body),
    ...more,
  ];

  test('23-26: established, with columns, in every output, among all', async () => {
    await cluster.must(['wait', 'crd/widgets.ex.io', '--for=condition=Established', '--timeout=10s']);
    assert.match(await cluster.must(['get', 'wd', 'first']), /^NAME +SIZE +AGE\nfirst +7 +/);
    assert.match(await cluster.must(['get', 'wd', 'first'], { isDebian: true }), /^NAME +SIZE +AGE\nfirst +7 +/);
    assert.match(await cluster.must(['get', 'wd', '-o', 'name']), /^widget\.ex\.io\/first$/m);
    assert.equal(await cluster.must(['get', 'wd', 'first', '-o', 'jsonpath={.spec.size}']), '7');
    assert.match(await cluster.must(['get', 'wd', 'first', '--show-labels']), /LABELS/);
    assert.match(await cluster.must(['get', 'wd', '--sort-by=.spec.size', '-o', 'wide']), /first/);
    assert.match(await cluster.must(['get', 'all']), /widget\.ex\.io\/first/);
  });

  test('27: a value out of bounds is named with its bound', async () => {
    const file = cluster.file('big.json', widget('big', { size: 500 }));
    assert.match(
      await cluster.refused(['apply', '-f', file]),
      /The Widget "big" is invalid: spec\.size: Invalid value: 500: spec\.size in body should be less than or equal to 100/,
    );
  });

  test('28-29: unknown fields are pruned, defaults are filled in, also for null', async () => {
    const file = cluster.file('loose.json', widget('loose', { size: 1, colour: 'red' }));
    await cluster.must(['apply', '-f', file, '--validate=false']);
    assert.deepEqual((await read('loose')).spec, { size: 1, replicas: 1 });
    const nothing = cluster.file('null.json', widget('null', { size: 1, replicas: null }));
    await cluster.must(['apply', '-f', nothing]);
    assert.equal((await read('null')).spec.replicas, 1);
  });

  test('31-34: status and the rest are two worlds; a strategic patch is not for custom kinds', async () => {
    const name = await own('patched', { size: 4 });
    await cluster.must(patch(name, { status: { n: 1 }, spec: { size: 99 } }, '--subresource=status'));
    const first = await read(name);
    assert.deepEqual([first.status.n, first.spec.size, first.metadata.generation], [1, 4, 1]);
    await cluster.must(patch(name, { status: { n: 2 }, spec: { size: 5 } }));
    const second = await read(name);
    assert.deepEqual([second.status.n, second.spec.size, second.metadata.generation], [1, 5, 2]);
    assert.match(
      await cluster.refused(['patch', 'wd', name, '-p', '{"spec":{"size":6}}']),
      /strategic.merge.patch|415|UnsupportedMediaType/i,
    );
    const operations = '[{"op":"test","path":"/spec/size","value":0},{"op":"replace","path":"/spec/size","value":9}]';
    await cluster.refused(['patch', 'wd', name, '--type=json', '-p', operations]);
    assert.equal((await read(name)).spec.size, 5);
  });

  test('35: scale, and scale only when it is what I think', async () => {
    const name = await own('scaled');
    await cluster.must(['scale', 'wd', name, '--replicas=3']);
    assert.equal((await read(name)).spec.replicas, 3);
    assert.match(
      await cluster.refused(['scale', 'wd', name, '--replicas=4', '--current-replicas=9']),
      /[Ee]xpected replicas to be 9, was 3/,
    );
    await cluster.must(['scale', 'wd', name, '--replicas=4', '--current-replicas=3']);
    assert.equal((await read(name)).spec.replicas, 4);
  });

  for (const isDebian of [false, true]) {
    test(`36: explain${isDebian ? ', with 1.20' : ''}`, async () => {
      assert.match(await cluster.must(['explain', 'wd.spec.size'], { isDebian }), /How big it is\./);
      assert.match(await cluster.must(['explain', 'pod.spec.containers', '--recursive'], { isDebian }), /imagePullPolicy\s+<string>/);
    });
  }

  test('37-39: labels, an edit, a replace with an old version', async () => {
    const name = await own('edited');
    await cluster.must(['label', 'wd', name, 'a=b']);
    assert.match(await cluster.refused(['label', 'wd', name, 'a=c']), /already has a value/);
    assert.match(await cluster.refused(['label', 'wd', name, 'a=c', '--overwrite', '--resource-version=1']), /Conflict|modified/);
    const old = await read(name);
    await cluster.must(['edit', 'wd', name], { env: { KUBE_EDITOR: 'sed -i s/size:.5/size:\\ 6/' } });
    assert.equal((await read(name)).spec.size, 6);
    assert.match(await cluster.refused(['replace', '-f', cluster.file('old.json', old)]), /the object has been modified/);
  });

  test('40: a watch prints rows as they come', async () => {
    const file = cluster.file('watched.json', widget('watched'));
    const watching = cluster.spawnKubectl(['get', 'wd', '-w', '--output-watch-events', '--field-selector=metadata.name=watched']);
    const words: string[] = [];
    const rows = createInterface({ input: watching.stdout });
    const seen = new Promise<void>((resolve) => {
      rows.on('line', (line) => {
        words.push(line.split(/\s+/)[0] ?? '');
        if (line.startsWith('EVENT')) return;
        if (line.startsWith('DELETED')) resolve();
      });
    });
    await cluster.must(['create', '-f', file]);
    await cluster.must(['label', 'wd', 'watched', 'a=b']);
    await cluster.must(['delete', 'wd', 'watched']);
    await seen;
    watching.kill('SIGINT');
    assert.deepEqual(words.filter((word) => word !== 'EVENT').at(-1), 'DELETED');
  });

  test('41: a version that is forgotten is one ERROR event with 410', async () => {
    for (let i = 0; i < 3; i += 1) await cluster.must(['label', 'wd', 'first', `n=${i}`, '--overwrite']);
    await cluster.makeHistory();
    const text = await cluster.must(['get', '--raw', '/apis/ex.io/v1/widgets?watch=1&resourceVersion=1&timeoutSeconds=3']);
    const { type, object } = JSON.parse(text);
    assert.deepEqual([type, object.code, object.reason], ['ERROR', 410, 'Expired']);
  });

  test('42: wait lists by a watch where the client wants to', async () => {
    const name = await own('awaited', { size: 6 });
    const options = { env: { KUBE_FEATURE_WatchListClient: 'true' } };
    await cluster.must(['wait', `wd/${name}`, '--for=jsonpath={.spec.size}=6', '--timeout=5s'], options);
  });

  test('45: a finalizer holds an object until it is taken away', async () => {
    const name = await own('held', { size: 1 }, { finalizers: ['ex.io/f'] });
    await cluster.refused(['delete', 'wd', name, '--timeout=1s']);
    const { metadata } = await read(name);
    assert.deepEqual([typeof metadata.deletionTimestamp, metadata.generation], ['string', 2]);
    const waiting = cluster.must(['wait', `wd/${name}`, '--for=delete', '--timeout=20s']);
    await cluster.must(patch(name, { metadata: { finalizers: null } }));
    await waiting;
  });
});

test('48, 61: a restart keeps everything, and a deleted definition takes its objects along', { timeout: 60_000 }, async () => {
  await using cluster = await Cluster.start();
  await cluster.must(['apply', '-f', cluster.file('crd.json', WIDGET_CRD)]);
  await cluster.must(['apply', '-f', cluster.file('w.json', widget('w'))]);
  const before = JSON.parse(await cluster.must(['get', 'wd', 'w', '-o', 'json'])).metadata;
  await cluster.restart();
  const { metadata } = JSON.parse(await cluster.must(['get', 'wd', 'w', '-o', 'json']));
  assert.deepEqual([metadata.uid, metadata.resourceVersion], [before.uid, before.resourceVersion]);
  await cluster.must(['label', 'wd', 'w', 'a=b']);
  const after = JSON.parse(await cluster.must(['get', 'wd', 'w', '-o', 'json'])).metadata;
  assert.ok(Number(after.resourceVersion) > Number(before.resourceVersion));
  await cluster.must(['delete', 'crd', 'widgets.ex.io']);
  await cluster.must(['api-resources']); // kubectl keeps what it discovered for hours, and this makes it look again
  assert.match(await cluster.refused(['get', 'wd']), /the server doesn't have a resource type "wd"/);
});
