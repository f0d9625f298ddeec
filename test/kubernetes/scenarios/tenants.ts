/** Machines among what others have in a namespace: its rules, its Pods, its people. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../e2e/harness.ts';
import { webPodSpec } from '../kubectl.ts';
import { eventually, type World } from './world.ts';

const VIRTCTL = resolve(import.meta.dirname, '../../../bin/virtctl');

export function tenantScenarios(shared: World): void {
  const world = shared.in('team');

  describe('machines in a namespace of others', () => {
    before(() => world.makeNamespace());
    after(() => shared.kubectl('delete', 'namespace', 'team', '--timeout=400s'));

    test('a machine and a Pod behind one Service both answer, and reach each other', async () => {
      const metadata = { name: 'native', namespace: 'team', labels: { app: 'mixed' } };
      const service = { selector: { app: 'mixed' }, ports: [{ port: 80 }] };
      const template = { metadata: { labels: { app: 'mixed' } } };
      const machine = world.machine('guest') as { spec: { template: object } };
      await world.apply(
        { apiVersion: 'v1', kind: 'Pod', metadata, spec: webPodSpec('native') },
        { apiVersion: 'v1', kind: 'Service', metadata: { name: 'mixed', namespace: 'team' }, spec: service },
        { ...machine, spec: { ...machine.spec, template: { ...machine.spec.template, ...template } } },
      );
      await world.untilReady('guest');
      await world.kubectl('wait', 'pod/native', '--for=condition=Ready', '--timeout=400s');
      const address = await world.kubectl('get', 'service', 'mixed', '-o', 'jsonpath={.spec.clusterIP}');
      const ask = () => world.kubectl('exec', 'native', '--', 'sh', '-c', `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 20 ${address} 80`);
      const seen = new Set<string>();
      await eventually(async () => {
        seen.add(/I am native|Hello from a virtual machine/.exec(await ask())?.[0] ?? '');
        assert.ok(seen.has('I am native') && seen.has('Hello from a virtual machine'), [...seen].join());
      });
      const nativeAddress = (await world.pods('app=mixed')).find(({ metadata: { name } }) => name === 'native')?.status?.podIP;
      const fromGuest = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 20 ${nativeAddress} 80`;
      assert.match(await world.inGuest('guest', fromGuest), /I am native/);
      await world.kubectl('delete', 'pod/native', 'service/mixed', '--timeout=400s');
    });

    test('a machine beyond the quota says so, and starts by itself when there is room', async () => {
      const quota = (pods: number) => ({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'few', namespace: 'team' },
        spec: { hard: { pods: String(pods) } },
      });
      await world.apply(quota(1));
      await world.until('resourcequota/few', '.status.used.pods', '1');
      await world.apply(world.machine('second'));
      await eventually(async () => {
        const conditions = (await world.vmi('second')).status?.conditions ?? [];
        assert.ok(
          conditions.some(({ message = '' }) => /exceeded quota: few/.test(message)),
          JSON.stringify(conditions),
        );
      });
      await world.apply(quota(2));
      await world.untilReady('second');
      await world.kubectl('delete', 'resourcequota', 'few');
      await world.kubectl('delete', 'vm', 'second', '--timeout=400s');
    });

    test('machines run where only restricted Pods may, and what may not is refused beside them', async () => {
      const strict = shared.in('strict');
      await strict.makeNamespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
      await strict.apply(strict.machine('guest'));
      await strict.untilReady('guest');
      await assert.rejects(strict.kubectl('run', 'free', '--image=images.local/busybox:1'), /violates PodSecurity "restricted/);
      await shared.kubectl('delete', 'namespace', 'strict', '--timeout=400s');
    });

    test("the admin of a namespace does everything with machines there, nothing elsewhere, and nothing to the cluster's own", async (t) => {
      await world.kubectl('create', 'serviceaccount', 'ada');
      await world.kubectl('create', 'rolebinding', 'ada', '--clusterrole=admin', '--serviceaccount=team:ada');
      const folder = mkdtempSync(join(tmpdir(), 'ada-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, await kubeconfigOf(world, await world.kubectl('create', 'token', 'ada')), { mode: 0o600 });
      const as = (program: string, ...args: string[]) => run(program, args, { env: { KUBECONFIG: kubeconfig, NO_COLOR: '1' } });
      const kubectl = (...args: string[]) => as(join(world.cluster.programs, 'kubectl'), ...args);
      const done = async (asked: ReturnType<typeof run>) => {
        const { code, stdout, stderr } = await asked;
        assert.equal(code, 0, stderr);
        return stdout;
      };
      writeFileSync(join(folder, 'vm.json'), JSON.stringify(world.machine('hers')));
      await done(kubectl('create', '-f', join(folder, 'vm.json')));
      await world.untilReady('hers');
      await done(as(VIRTCTL, 'pause', 'vm', 'hers'));
      await world.until('vm/hers', '.status.printableStatus', 'Paused');
      await done(as(VIRTCTL, 'unpause', 'vm', 'hers'));
      await world.until('vm/hers', '.status.printableStatus', 'Running');
      await eventually(async () => assert.match(await done(as(VIRTCTL, 'logs', 'hers')), /guest ready/));
      await done(as(VIRTCTL, 'stop', 'hers'));
      await world.until('vm/hers', '.status.printableStatus', 'Stopped');
      await done(kubectl('delete', 'vm', 'hers', '--timeout=400s'));

      const refused = async (asked: ReturnType<typeof run>) => assert.match((await asked).stderr, /[Ff]orbidden|may not|cannot/);
      await refused(kubectl('get', 'vms', '-n', 'default'));
      assert.equal((await kubectl('auth', 'can-i', 'update', 'kubevirts', '-n', 'kubevirt')).stdout.trim(), 'no');
      await refused(kubectl('delete', 'pods', '--all', '-n', 'kubevirt'));
      await refused(kubectl('delete', 'crd', 'virtualmachines.kubevirt.io'));
      await refused(as(VIRTCTL, 'stop', 'any', '-n', 'default'));
    });
  });
}

/** That of the cluster, with a token in place of the administrator. */
async function kubeconfigOf(world: World, token: string): Promise<string> {
  const own = JSON.parse(await world.kubectl('config', 'view', '--raw', '-o', 'json'));
  const [context] = own.contexts;
  own.users = [{ name: context.context.user, user: { token } }];
  context.context.namespace = world.namespace;
  return JSON.stringify(own);
}
