/** The loop over the ports of guests, with caches that are fed by hand and a QEMU of text. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { SERVICES, type Service } from '../../api/core/service.ts';
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { silentLogger } from '../../base/log.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { handFedCache } from '../../testing/hand-fed-cache.ts';
import { ScriptedApi } from '../../testing/scripted-api.ts';
import { quiet, until } from '../../testing/until.ts';
import { POD_INDEXES, SERVICE_INDEXES } from '../node-caches.ts';
import { startGuestNetwork } from './controller.ts';
import type { Wire } from './port-looks.ts';

test('a port is opened when the guest takes connections there, and closed when it no longer does', async (t) => {
  const { takes, clock, added, lines } = network(t, ['a'], { takes: [] });
  const later = (isSo: () => boolean) =>
    until(() => {
      if (!isSo()) clock.advance(500);
      return isSo();
    });
  const before = clock.steady();
  await later(() => clock.steady() > before + 10_000);
  assert.deepEqual(added('a'), []);
  takes.add(22);
  await later(() => added('a').length > 0);
  assert.deepEqual(added('a'), ['tcp:10.0.0.1:22-:22']);
  takes.delete(22);
  await later(() => lines.some(({ line }) => line === 'hostfwd_remove net0 tcp:10.0.0.1:22'));
});

test('a Service wakes the guests that it selects, and nobody else', async (t) => {
  const { services, added, asked } = network(t, ['a', 'b']);
  await until(() => asked().length === 2); // their usual ports
  services.put(service({ app: 'a' }, 8081));
  await until(() => added('a').includes('tcp:10.0.0.1:8081-:8081'));
  assert.deepEqual([asked(), added('b').includes('tcp:10.0.0.1:8081-:8081')], [['a', 'b'], false]);
});

test('a Pod wakes its own guest, and another of the namespace none', async (t) => {
  const { pods, lines, asked } = network(t, ['a', 'b']);
  await until(() => asked().length === 2);
  await quiet();
  const before = lines.length;
  const { ownerReferences: _, ...metadata } = podOf(guest('a')).metadata;
  pods.put({ ...podOf(guest('a')), metadata: { ...metadata, name: 'other', uid: 'other' } });
  pods.put(podOf(guest('b'), { note: 'new' }));
  await quiet();
  assert.deepEqual(
    lines.slice(before).filter(({ key, line }) => key === 'default/a' || line !== 'info usernet'),
    [],
  );
});

test('a port that is open is not asked for again, until the guest is in another Pod', async (t) => {
  const { pods, services, added } = network(t, ['a']);
  services.put(service({ app: 'a' }, 8081));
  await until(() => added('a').includes('tcp:10.0.0.1:8081-:8081'));
  await quiet();
  const before = added('a').length;
  services.put(service({ app: 'a' }, 8081, { note: 'new' }));
  await quiet();
  assert.equal(added('a').length, before);
  pods.remove(podOf(guest('a')));
  const next = podOf(guest('a'));
  pods.put({ ...next, metadata: { ...next.metadata, uid: 'next' }, status: { ...next.status, podIP: '10.0.0.2' } });
  await until(() => added('a').includes('tcp:10.0.0.2:8081-:8081'));
});

test('a guest that is still told who it is, without a link, is looked at when it knows', async (t) => {
  const { vmis, pods, asked } = network(t, []);
  const knowing = guest('a');
  pods.put(podOf(knowing));
  vmis.put({ ...knowing, status: { ...knowing.status, suspension: { phase: 'Resumed', origin: { name: 'first' } } } });
  await quiet();
  assert.deepEqual(asked(), []);
  vmis.put({ ...knowing, metadata: { ...knowing.metadata, resourceVersion: '2' } });
  await until(() => asked().length > 0); // at once: no time has passed
});

test('a QEMU that cannot be asked yet is asked again', async (t) => {
  const { clock, refuses, added } = network(t, ['a'], { isRefusing: true });
  await quiet();
  assert.deepEqual(added('a'), []);
  refuses(false);
  await until(() => {
    clock.advance(1_000);
    return added('a').length > 0;
  });
});

function guest(name: string): VirtualMachineInstance {
  const plain = vmi('Running');
  return { ...plain, metadata: { ...plain.metadata, name, uid: `vmi-${name}` } };
}

function podOf(owner: VirtualMachineInstance, annotations: Record<string, string> = {}): Pod {
  const { name } = owner.metadata;
  const metadata = { name: launcherPodNameOf(owner), uid: `pod-${name}`, labels: { app: name }, annotations };
  const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  return launcherPod(running, { podIP: '10.0.0.1' }, { ...metadata, ownerReferences: [controllerReferenceTo(owner)] });
}

function service(selector: Record<string, string>, port: number, annotations: Record<string, string> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', namespace: 'default', annotations },
    spec: { selector, ports: [{ port }] },
  };
}

type Given = { readonly isRefusing?: boolean; readonly takes?: readonly number[] };

/** Guests that take connections at these ports, or at all. */
function network(t: TestContext, names: readonly string[], given: Given = {}) {
  const takes = new Set(given.takes);
  const clock = new FakeClock();
  const stop = new AbortController();
  const vmis = handFedCache(VMIS);
  const pods = handFedCache(PODS, POD_INDEXES);
  const services = handFedCache(SERVICES, SERVICE_INDEXES);
  const lines: { readonly key: string; readonly line: string }[] = [];
  let isSilent = given.isRefusing ?? false;
  const added = (name: string) =>
    lines.flatMap(({ key, line }) => (key === `default/${name}` && line.startsWith('hostfwd_add') ? [line.split(' ')[2] ?? ''] : []));
  const monitor = async (key: string, line: string) => {
    if (isSilent) throw new Error('QEMU is not connected');
    lines.push({ key, line });
    if (line !== 'info usernet') return '';
    const removed = new Set(
      lines.flatMap((each) => (each.key === key && each.line.startsWith('hostfwd_remove') ? each.line.split(' ')[2] : [])),
    );
    const stand = added(key.slice('default/'.length)).filter((each) => !removed.has(each.split('-')[0]));
    const open = stand.map((each) => /^(\w+):(.*):(\d+)-:(\d+)$/.exec(each) ?? []);
    return open
      .map(
        ([, protocol = '', address, host, port]) =>
          `  ${protocol.toUpperCase()}[HOST_FORWARD] 1 ${address} ${host} 10.0.2.15 ${port} 0 0\n`,
      )
      .join('');
  };
  for (const name of names) {
    vmis.put(guest(name));
    pods.put(podOf(guest(name)));
  }
  const common = { client: new ScriptedApi().client, clock, log: silentLogger, signal: stop.signal };
  const ask: Wire['ask'] = async (_card, ports) => {
    const isTaken = (port: number) => given.takes === undefined || takes.has(port);
    const refuses = ports.filter((port) => !isTaken(port));
    return { isThere: true, takes: new Set(ports.filter(isTaken)), refuses: new Set(refuses) };
  };
  startGuestNetwork({ ...common, vmis, pods, services, monitor, wireOf: () => ({ ask, close: () => {} }), isRunning: () => true });
  for (const cache of [vmis, pods, services]) cache.sync();
  t.after(() => stop.abort());
  const asked = () =>
    [...new Set(lines.filter(({ line }) => line.startsWith('hostfwd_add')).map(({ key }) => key.slice('default/'.length)))].sort();
  const refuses = (silent: boolean) => {
    isSilent = silent;
  };
  return { takes, clock, vmis, pods, services, lines, added, asked, refuses };
}
