/** What a start costs the API server: writes of our components, as its own log tells them. Events and leases do not count. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const MOST_FOR_AN_INSTANCE = 6;
const MOST_FOR_A_MACHINE = 10;
const VM = 'vm-cirros';
const OURS = /^system:serviceaccount:kubevirt:kubevirt-(apiserver|controller|handler)$/;
type Write = { readonly user: string; readonly method: string; readonly path: string; readonly code: number };

process.env['KUBEVIRT_LOG'] = 'debug'; // for the cluster of this test, which inherits it

/** Our writes after the first `from` lines of the log, in their order. Those of nodes (heartbeats) and reviews of access belong to no machine. */
function writesIn(home: string, from = 0): { writes: string[]; end: number } {
  const lines = readFileSync(join(home, 'logs/embedded.log'), 'utf8').split('\n').slice(0, -1);
  const entries = lines.slice(from).map((line) => JSON.parse(line));
  const writes = entries.filter((entry): entry is Write => entry.message === 'write' && OURS.test(entry.user));
  const ofMachines = writes.filter(({ path }) => /\/namespaces\/default\/(?!events)/.test(path));
  return {
    writes: ofMachines.map(({ user, method, path, code }) => `${user.split('-').at(-1)} ${method} ${path.split('/default/')[1]} ${code}`),
    end: lines.length,
  };
}

/** A write that came too late is done again; once is part of life. */
function atMost(writes: readonly string[], most: number): void {
  const done = writes.filter((write) => / 20[012]$/.test(write));
  assert.ok(done.length > 0 && done.length <= most, `${done.length} writes, at most ${most}:\n${writes.join('\n')}`);
  assert.ok(writes.length - done.length <= 1, `more than one write had to be done again:\n${writes.join('\n')}`);
}

/** An example whose guest need not be waited for when it goes. */
function manifest(path: string): string {
  return readFileSync(path, 'utf8').replace('terminationGracePeriodSeconds: 10', 'terminationGracePeriodSeconds: 0');
}

test('a start costs few writes', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const edit = (patch: object) => cluster.must('kubectl', ['patch', 'vm', VM, '--type', 'merge', '-p', JSON.stringify(patch)]);
  const stopped = async () => {
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Stopped');
    await cluster.untilGone(`vmi/${VM}`); // a final instance is still told good-bye
  };
  const counted = async (start: () => Promise<unknown>): Promise<string[]> => {
    const { end } = writesIn(cluster.home);
    await start();
    await cluster.until(`vm/${VM}`, '.status.ready', 'true');
    return writesIn(cluster.home, end).writes;
  };
  const viaVirtctl = () => cluster.must('virtctl', ['start', VM]);

  await t.test(`an instance: at most ${MOST_FOR_AN_INSTANCE}`, async () => {
    const { end } = writesIn(cluster.home);
    await cluster.must('kubectl', ['create', '-f', '-'], { input: manifest('examples/vmi.yaml') });
    await cluster.until('vmi/once', '.status.conditions[?(@.type=="Ready")].status', 'True');
    atMost(writesIn(cluster.home, end).writes, MOST_FOR_AN_INSTANCE);
    await cluster.must('kubectl', ['delete', 'vmi', 'once']);
  });

  await t.test(`a machine that is created to run: at most ${MOST_FOR_A_MACHINE}`, async () => {
    const input = manifest('test/manifests/001-vm-cirros.yaml').replace('running: false', 'running: true');
    atMost(await counted(() => cluster.must('kubectl', ['create', '-f', '-'], { input })), MOST_FOR_A_MACHINE);
  });

  await t.test(`a machine that ran before: at most ${MOST_FOR_A_MACHINE}`, async () => {
    await cluster.must('virtctl', ['stop', VM]);
    await stopped();
    atMost(await counted(viaVirtctl), MOST_FOR_A_MACHINE);
  });

  await t.test(`a machine that was changed since it ran: at most ${MOST_FOR_A_MACHINE}`, async () => {
    await cluster.must('virtctl', ['stop', VM]);
    await stopped();
    await edit({ spec: { template: { spec: { domain: { resources: { requests: { memory: '130Mi' } } } } } } });
    await cluster.must('kubectl', ['wait', 'controllerrevisions', '--all', '--for=delete', '--timeout=60s']);
    atMost(await counted(viaVirtctl), MOST_FOR_A_MACHINE);
  });
});
