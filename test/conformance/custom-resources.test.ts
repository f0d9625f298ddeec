import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Cluster } from './cluster.ts';
import { describeWithEachKubectl } from './each-kubectl.ts';
import { eventually } from './eventually.ts';
import { WIDGET_CRD, widget } from './manifests.ts';

/** The numbers are those of the list of checks in the requirements of the embedded control plane. */
describeWithEachKubectl(
  'custom resources',
  ({ cluster, since }) => {
    const must = (args: readonly string[]) => cluster().must(args);
    const refused = (args: readonly string[]) => cluster().refused(args);
    const read = async (name: string) => JSON.parse(await must(['get', 'wd', name, '-o', 'json']));
    const patch = (name: string, body: object, ...more: string[]) => {
      return ['patch', 'wd', name, '--type=merge', '-p', JSON.stringify(body), ...more];
    };
    /** A widget of a check's own. */
    async function own(name: string, spec?: object, metadata?: object): Promise<string> {
      await must(['apply', '-f', cluster().file(`${name}.json`, widget(name, spec, metadata))]);
      return name;
    }

    test('23: a definition is established', async () => {
      await must(['wait', 'crd/widgets.ex.io', '--for=condition=Established', '--timeout=10s']);
    });

    test('24: its objects have its columns', async () => {
      assert.match(await must(['get', 'wd', 'first']), /^NAME +SIZE +AGE\nfirst +7 +/);
    });

    test('25: every output', async () => {
      assert.match(await must(['get', 'wd', '-o', 'wide']), /first/);
      assert.match(await must(['get', 'wd', '-o', 'name']), /^widget\.ex\.io\/first$/m);
      assert.equal(JSON.parse(await must(['get', 'wd', '-o', 'json'])).kind, 'List');
      assert.equal(await must(['get', 'wd', 'first', '-o', 'jsonpath={.spec.size}']), '7');
      assert.match(await must(['get', 'wd', 'first', '--show-labels']), /LABELS/);
      await own('t25-small', { size: 1 });
      await own('t25-large', { size: 100 });
      const sorted = (await must(['get', 'wd', '--sort-by=.spec.size', '-o', 'name'])).trim().split('\n');
      const order = ['t25-small', 'first', 't25-large'].map((name) => sorted.indexOf(`widget.ex.io/${name}`));
      assert.deepEqual(
        order,
        [...order].sort((a, b) => a - b),
      );
    });

    test('26: among all', async () => {
      const { code, stdout, stderr } = await cluster().kubectl(['get', 'all', '-n', 'default']);
      assert.deepEqual([code, stderr.replace(/^Warning: .*\n/gm, '')], [0, '']);
      assert.match(stdout, /widget\.ex\.io\/first/);
    });

    test('27: a value out of bounds is named with its bound', async () => {
      const file = cluster().file('t27.json', widget('t27', { size: 500 }));
      assert.match(
        await refused(['apply', '-f', file]),
        /The Widget "t27" is invalid: spec\.size: Invalid value: 500: spec\.size in body should be less than or equal to 100/,
      );
    });

    test('28: unknown fields are pruned', async () => {
      const file = cluster().file('t28.json', widget('t28', { size: 1, colour: 'red' }));
      await must(['apply', '-f', file, '--validate=false']);
      assert.deepEqual((await read('t28')).spec, { size: 1, replicas: 1 });
    });

    test('29: defaults are filled in, also for null', async () => {
      const name = await own('t29', { size: 1 });
      assert.equal((await read(name)).spec.replicas, 1);
      // the old kubectl drops a null before it sends
      await cluster().mustAsCurrent(['create', '-f', cluster().file('t29.json', widget('t29-null', { size: 1, replicas: null }))]);
      assert.equal((await read('t29-null')).spec.replicas, 1);
    });

    test('31: a patch of the status changes nothing else', { skip: since('1.24', '--subresource') }, async () => {
      const name = await own('t31', { size: 4 });
      await must(patch(name, { status: { n: 1 }, spec: { size: 99 } }, '--subresource=status'));
      const { status, spec, metadata } = await read(name);
      assert.deepEqual([status.n, spec.size, metadata.generation], [1, 4, 1]);
    });

    test('32: a patch of the object leaves its status alone', async () => {
      const name = await own('t32', { size: 4 });
      await cluster().mustAsCurrent(patch(name, { status: { n: 1 } }, '--subresource=status'));
      await must(patch(name, { status: { n: 2 }, spec: { size: 5 } }));
      const { status, spec, metadata } = await read(name);
      assert.deepEqual([status.n, spec.size, metadata.generation], [1, 5, 2]);
    });

    test('33: a strategic patch is not for custom kinds', async () => {
      const name = await own('t33');
      const strategic = ['patch', 'wd', name, '-p', '{"spec":{"size":6}}'];
      assert.match(await refused(strategic), /strategic.merge.patch|415|UnsupportedMediaType/i);
      assert.match(await refused([...strategic, '-v=6']), /\b415\b/);
    });

    test('34: a JSON patch whose test fails changes nothing', async () => {
      const name = await own('t34', { size: 5 });
      const operations = '[{"op":"test","path":"/spec/size","value":0},{"op":"replace","path":"/spec/size","value":9}]';
      assert.match(await refused(['patch', 'wd', name, '--type=json', '-p', operations, '-v=6']), /\b422\b/);
      assert.equal((await read(name)).spec.size, 5);
    });

    test('35: scale, and scale only when it is what I think', async () => {
      const name = await own('t35');
      await must(['scale', 'wd', name, '--replicas=3']);
      assert.equal((await read(name)).spec.replicas, 3);
      assert.match(await refused(['scale', 'wd', name, '--replicas=4', '--current-replicas=9']), /[Ee]xpected replicas to be 9, was 3/);
      await must(['scale', 'wd', name, '--replicas=4', '--current-replicas=3']);
      assert.equal((await read(name)).spec.replicas, 4);
    });

    test('36: explain', async () => {
      assert.match(await must(['explain', 'wd.spec.size']), /How big it is\./);
      assert.match(await must(['explain', 'pod.spec.containers', '--recursive']), /imagePullPolicy\s+<string>/);
    });

    test('37: labels', async () => {
      const name = await own('t37');
      await must(['label', 'wd', name, 'a=b']);
      assert.match(await refused(['label', 'wd', name, 'a=c']), /already has a value/);
      assert.match(await refused(['label', 'wd', name, 'a=c', '--overwrite', '--resource-version=1']), /Conflict|modified/);
    });

    test('38: an edit, and an edit that the server refuses', async () => {
      const name = await own('t38', { size: 5 });
      const edit = (script: string) => cluster().kubectl(['edit', 'wd', name], { env: { KUBE_EDITOR: script } });
      assert.equal((await edit('sed -i s/size:.5/size:\\ 6/')).code, 0);
      assert.equal((await read(name)).spec.size, 6);
      // the second time the same editor changes nothing, and kubectl gives up; the file it was given says why
      const seen = cluster().file('t38-seen');
      const bad = cluster().script('t38-editor', `cat "$1" >> ${seen}; sed -i 's/size: 6$/size: 600/' "$1"`);
      const { code } = await edit(bad);
      assert.notEqual(code, 0);
      assert.match(readFileSync(seen, 'utf8'), /# .*spec\.size.*less than or equal to 100/);
      assert.equal((await read(name)).spec.size, 6);
    });

    test('39: a replace with an old version', async () => {
      const name = await own('t39');
      const old = await read(name);
      await must(['label', 'wd', name, 'a=b']);
      assert.match(await refused(['replace', '-f', cluster().file('t39.json', old)]), /the object has been modified/);
    });

    test('40: a watch prints rows as they come', async () => {
      const watching = cluster().spawnKubectl(['get', 'wd', '-w', '--output-watch-events', '--field-selector=metadata.name=t40']);
      const words: string[] = [];
      createInterface({ input: watching.stdout }).on('line', (line) => words.push(line.split(/\s+/)[0] ?? ''));
      await must(['create', '-f', cluster().file('t40.json', widget('t40'))]);
      await eventually(
        () => words.includes('ADDED'),
        () => `for ADDED after ${words}`,
      );
      await must(['label', 'wd', 't40', 'a=b']);
      await must(['delete', 'wd', 't40']);
      await eventually(
        () => words.includes('DELETED'),
        () => `for DELETED after ${words}`,
      );
      const ended = once(watching, 'exit');
      watching.kill('SIGINT');
      await ended;
      assert.deepEqual(
        words.filter((word) => word !== 'EVENT'),
        ['ADDED', 'MODIFIED', 'DELETED'],
      );
    });

    test('42: wait lists by a watch where the client wants to', { skip: since('1.32', 'WatchList') }, async () => {
      const name = await own('t42', { size: 6 });
      const options = { env: { KUBE_FEATURE_WatchListClient: 'true' } };
      await cluster().must(['wait', `wd/${name}`, '--for=jsonpath={.spec.size}=6', '--timeout=5s'], options);
    });

    test('45: a finalizer holds an object until it is taken away', async () => {
      const name = await own('t45', { size: 1 }, { finalizers: ['ex.io/f'] });
      await refused(['delete', 'wd', name, '--timeout=1s']);
      const { metadata } = await read(name);
      assert.deepEqual([typeof metadata.deletionTimestamp, metadata.generation], ['string', 2]);
      const before = cluster().requests.length;
      const waiting = must(['wait', `wd/${name}`, '--for=delete', '--timeout=60s']);
      await eventually(
        () =>
          cluster()
            .requests.slice(before)
            .some((url) => url.includes(`name%3D${name}`) && url.includes('watch=true')),
        () => 'for kubectl to watch',
      );
      await must(patch(name, { metadata: { finalizers: null } }));
      await waiting;
    });
  },
  {
    async prepare(cluster) {
      // 23-24: a definition is in force as soon as it is written; nobody waits between the two.
      await cluster.must(['apply', '-f', cluster.file('crd.json', WIDGET_CRD)]);
      await cluster.must(['apply', '-f', cluster.file('first.json', widget('first', { size: 7 }))]);
    },
  },
);

for (const isDebian of [false, true]) {
  const client = isDebian ? "Debian's kubectl 1.20" : 'a current kubectl';

  test(`41: a version that is forgotten is one ERROR event with 410, with ${client}`, { timeout: 120_000 }, async () => {
    await using cluster = await Cluster.start({ isDebian });
    await cluster.must(['apply', '-f', cluster.file('crd.json', WIDGET_CRD)]);
    await cluster.must(['apply', '-f', cluster.file('w.json', widget('w'))]);
    await cluster.makeHistory();
    const text = await cluster.must(['get', '--raw', '/apis/ex.io/v1/widgets?watch=1&resourceVersion=1&timeoutSeconds=3']);
    const { type, object } = JSON.parse(text);
    assert.deepEqual([type, object.code, object.reason], ['ERROR', 410, 'Expired']);
  });

  test(`48: a deleted definition takes its objects along, with ${client}`, { timeout: 120_000 }, async () => {
    await using cluster = await Cluster.start({ isDebian });
    const crd = cluster.file('crd.json', WIDGET_CRD);
    await cluster.must(['apply', '-f', crd]);
    await cluster.must(['apply', '-f', cluster.file('w.json', widget('w'))]);
    await cluster.must(['delete', 'crd', 'widgets.ex.io']);
    await cluster.must(['api-resources']); // kubectl keeps what it discovered for hours, and this makes it look again
    assert.match(await cluster.refused(['get', 'wd']), /the server doesn't have a resource type "wd"/);
    await cluster.must(['apply', '-f', crd]);
    assert.deepEqual(JSON.parse(await cluster.must(['get', '--raw', '/apis/ex.io/v1/widgets'])).items, []);
  });
}
