/** Whom the cluster believes: a guest about whether it is ready, and a virt-handler about the instances of its own node alone. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { doWithToken, handlerToken } from './with-token.ts';
import { eventually, type World } from './world.ts';

export function nodeRightsScenarios(shared: World): void {
  const world = shared.in('node-rights');
  const system = shared.in('kubevirt');
  const probe = { tcpSocket: { port: 80 }, periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 5 };

  describe('what a guest and a virt-handler are believed', () => {
    before(async () => {
      await world.makeNamespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
      await world.apply(world.machine('asked', { spec: { readinessProbe: probe } }));
    });
    after(() => shared.kubectl('delete', 'namespace', 'node-rights', '--timeout=150s'));

    test('a guest is ready while it takes connections, and not when only the network in front of it does', async () => {
      await world.until('vm/asked', '.status.printableStatus', 'Running');
      await world.untilReady('asked');
      await world.inGuest('asked', 'killall httpd');
      await world.until('vm/asked', '.status.ready', 'false');
      await world.until('vmi/asked', '.status.conditions[?(@.type=="GuestReady")].status', 'False');
      assert.equal((await world.vm('asked')).status?.printableStatus, 'Running');
    });

    test('a virt-handler writes instances of its own node, marks that node and ends launchers there, and reaches nothing else', async () => {
      const { nodeName } = (await world.vmi('asked')).status ?? {};
      const handlers = await system.pods('kubevirt.io=virt-handler');
      /** As the virt-handler of a node, with a token of its Pod. */
      const doAs = async (isOwn: boolean, ...what: string[]): Promise<string> => {
        const pod = handlers.find(({ spec }) => (spec.nodeName === nodeName) === isOwn)?.metadata.name ?? '';
        return doWithToken(world, await handlerToken(system, pod), ...what);
      };
      const patchAs = (isOwn: boolean, patch: object) =>
        doAs(isOwn, 'patch', 'vmi', 'asked', '-n', 'node-rights', '--type=merge', '-p', JSON.stringify(patch));
      const seen = { status: { guestOSInfo: { id: 'seen' } } };
      assert.match(await patchAs(false, seen), /may only change instances that were handed to it/);
      assert.match(
        await patchAs(true, { metadata: { labels: { 'kubevirt.io/nodeName': 'other' } } }),
        /is not for a virt-handler to change/,
      );
      await eventually(async () => assert.equal(await patchAs(true, seen), 'taken'));

      const policies = await shared.kubectl(
        'get',
        'validatingadmissionpolicies',
        '-o',
        'jsonpath={.items[*].status.typeChecking.expressionWarnings}',
      );
      assert.equal(policies, '');
      const patchNodeAs = (isOwn: boolean, patch: object) =>
        doAs(isOwn, 'patch', 'node', nodeName ?? '', '--type=merge', '-p', JSON.stringify(patch));
      const mark = { metadata: { annotations: { 'kubevirt.io/test': 'seen' } } };
      assert.match(await patchNodeAs(false, mark), /may change its own node only/);
      assert.match(await patchNodeAs(true, { spec: { unschedulable: true } }), /labels and annotations of kubevirt.io\/ only/);
      assert.match(await patchNodeAs(true, { metadata: { labels: { zone: 'mine' } } }), /labels and annotations of kubevirt.io\/ only/);
      assert.equal(await patchNodeAs(true, mark), 'taken');
      assert.equal(await patchNodeAs(true, { metadata: { annotations: { 'kubevirt.io/test': null } } }), 'taken');

      const launcher = (await world.launcherOf('asked')).metadata.name;
      const deleteAs = (isOwn: boolean, namespace: string, pod: string) =>
        doAs(isOwn, 'delete', 'pod', pod, '-n', namespace, '--wait=false', '--dry-run=server');
      const ofNode = handlers.find(({ spec }) => spec.nodeName === nodeName)?.metadata.name ?? '';
      assert.match(await deleteAs(false, 'node-rights', launcher), /may delete Pods of its own node only/);
      assert.match(await deleteAs(true, 'kubevirt', ofNode), /may delete launcher Pods only/);
      assert.equal(await deleteAs(true, 'node-rights', launcher), 'taken');
    });
  });
}
