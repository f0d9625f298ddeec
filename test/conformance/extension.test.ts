import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeWithEachKubectl } from './each-kubectl.ts';
import { eventually } from './eventually.ts';
import { Extension } from './extension.ts';

/** The numbers are those of the list of checks in the requirements of the embedded control plane. */
describeWithEachKubectl(
  'servers behind the API server',
  ({ cluster, namespace }) => {
    const must = (args: readonly string[]) => cluster().must(args);
    const refused = (args: readonly string[]) => cluster().refused(args);

    test('58: a webhook denies, is selective, hears of dry runs, and its absence is what its policy says', async () => {
      const inside = await namespace('t58');
      await using extension = await Extension.start(cluster());
      extension.deny('no names with x');
      await must(['label', 'ns', 't58', 'checked=yes']);
      await extension.validates({
        namespaceSelector: { matchLabels: { checked: 'yes' } },
        objectSelector: { matchLabels: { free: 'no' } },
      });
      const make = (name: string, free: string, ...more: string[]) => {
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { free } } };
        return ['create', '-f', cluster().file(`${name}-${free}.json`, object), ...more];
      };
      assert.match(await refused(inside(...make('a', 'no'))), /admission webhook "x\.example\.com" denied the request: no names with x/);
      assert.match(await refused(inside(...make('a', 'no', '-v=6'))), /\b403\b/);
      await must(inside(...make('b', 'yes'))); // not this object
      await must(['-n', 'default', ...make('c', 'no')]); // not this namespace
      extension.allow();
      await must(inside(...make('d', 'no', '--dry-run=server')));
      assert.equal(extension.reviews.at(-1)?.dryRun, true);
      await must(inside(...make('e', 'no')));
      assert.equal(extension.reviews.at(-1)?.dryRun, false);
      await extension.stop();
      const failed = await refused(inside(...make('f', 'no', '-v=6')));
      assert.match(failed, /failed calling webhook "x\.example\.com"/);
      assert.match(failed, /\b500\b/);
      await extension.validates({ failurePolicy: 'Ignore' });
      await must(inside(...make('g', 'no')));
    });

    test('59: an aggregated server is told who asks, and its end takes nothing else along', async () => {
      await using extension = await Extension.start(cluster());
      await extension.serves('demo.io', 'v1');
      const heard = JSON.parse(await must(['get', '--raw', '/apis/demo.io/v1/echo']));
      assert.deepEqual(
        [heard['x-remote-user'], heard['x-remote-group'], heard['authorization']],
        ['kubernetes-admin', ['system:masters', 'system:authenticated'], undefined],
      );
      const forged = await cluster().request('/apis/demo.io/v1/echo', { 'x-remote-user': 'root', authorization: 'Bearer x' });
      assert.equal(((await forged.json()) as Record<string, unknown>)['x-remote-user'], 'kubernetes-admin');
      await extension.stop();
      assert.match(await refused(['get', '--raw', '/apis/demo.io/v1/echo']), /ServiceUnavailable|503|currently unable/);
      const available = ['get', 'apiservice', 'v1.demo.io', '-o', 'jsonpath={.status.conditions[?(@.type=="Available")].status}'];
      await eventually(
        async () => (await must(available)) === 'False',
        () => 'for Available to become False',
      );
      await must(['get', 'pods']);
      await must(['get', 'apiservice', 'v1.demo.io']);
    });

    test('61: a restart keeps names, versions, sessions and rights', async () => {
      const inside = await namespace('t61');
      await must(inside('create', 'cm', 'c'));
      const read = async () => JSON.parse(await must(inside('get', 'cm', 'c', '-o', 'json'))).metadata;
      const token = (await cluster().mustAsCurrent(inside('create', 'token', 'default'))).trim();
      const before = await read();
      await cluster().restart();
      assert.deepEqual(await read(), before);
      await must(inside('label', 'cm', 'c', 'a=b'));
      const after = await read();
      assert.ok(Number(after.resourceVersion) > Number(before.resourceVersion));
      const path = `/api/v1/namespaces/t61/configmaps?watch=1&resourceVersion=${before.resourceVersion}&timeoutSeconds=1&fieldSelector=metadata.name%3Dc`;
      const { type, object } = JSON.parse(await must(['get', '--raw', path]));
      assert.deepEqual([type, object.metadata.resourceVersion], ['MODIFIED', after.resourceVersion]);
      assert.match(
        await refused(['--kubeconfig', cluster().kubeconfigWith({ token }), 'get', 'pods']),
        /system:serviceaccount:t61:default/,
      );
    });
  },
  { concurrency: 1 },
);
