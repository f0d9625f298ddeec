import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm, vmi } from '../testing/builders.ts';
import { deriveActions } from './derive-actions.ts';
import { deriveBulk } from './derive-bulk.ts';
import { deriveImages } from './derive-disk-images.ts';
import { deriveLostDisks } from './derive-lost-disks.ts';
import { deriveFiltered, deriveMachines, deriveTrouble } from './derive-machines.ts';
import { deriveCommand, deriveNewVm } from './derive-new-vm.ts';
import { derivePalette } from './derive-palette.ts';
import { derivePlace, placePath } from './derive-place.ts';

const running = () => deriveMachines([vm('Always', { printableStatus: 'Running' })], [vmi('Running', { nodeName: 'n1' })]);

test('a machine and its instance are one row, an instance of its own another', () => {
  const [machine, ...others] = running();
  assert.deepEqual([machine?.status, machine?.tone, machine?.node, others.length], ['Running', 'good', 'n1', 0]);
  const [alone] = deriveMachines([], [vmi('Scheduling')]);
  assert.deepEqual([alone?.status, alone?.tone], ['Scheduling', 'busy']);
});

test('a state that nobody knows is shown as bad, never as good', () => {
  assert.equal(deriveMachines([vm('Always', { printableStatus: 'ErrImagePull' })], [])[0]?.tone, 'bad');
});

test('a machine in trouble says why, one that runs says nothing', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');
  const [stuck] = deriveMachines(
    [
      vm('Always', {
        printableStatus: 'Starting',
        conditions: [{ type: 'Failure', status: 'True', reason: 'FailedCreate', message: 'quota' }],
      }),
    ],
    [],
  );
  assert.match((stuck && deriveTrouble(stuck, { now }))?.what ?? '', /cannot be made/);
  const [fine] = running();
  assert.equal(fine && deriveTrouble(fine, { now }), undefined);
});

test('a filter looks at everything that is known', () => {
  for (const [text, count] of [
    ['', 1],
    ['db', 1],
    ['n1 running', 1],
    ['n2', 0],
  ] as const)
    assert.equal(deriveFiltered(running(), { text, status: '' }).length, count, text);
  assert.equal(deriveFiltered(running(), { text: '', status: 'Stopped' }).length, 0);
});

test('actions say why they cannot be done, by state and by right', () => {
  const [machine] = running();
  assert.ok(machine);
  const refusals = Object.fromEntries(deriveActions(machine, new Set(['delete'])).map(({ action, refusal }) => [action, refusal]));
  assert.match(refusals['start'] ?? '', /already running/);
  assert.equal(refusals['stop'], undefined);
  assert.match(refusals['delete'] ?? '', /you may not delete/);
  assert.equal('unpause' in refusals, false);
});

test('an address is a place, and back', () => {
  for (const path of ['/', '/?q=a+b&status=Running', '/create', '/nodes', '/ns/default/vm/web', '/ns/default/vm/web/console']) {
    const [pathname = '', search = ''] = path.split(/(?=\?)/);
    assert.equal(placePath(derivePlace(pathname, search)), path);
  }
  for (const nowhere of ['/ns/default', '/ns/a/vm/b/other', '/create/x', '/%E0%A4%A'])
    assert.equal(derivePlace(nowhere, '').page, 'nowhere');
});

const choices = {
  namespace: 'default',
  name: 'web',
  image: 'localhost/guests/tiny',
  cpus: 2,
  memory: '256Mi',
  isStarted: false,
  isEphemeral: true,
  disk: '',
};

test('the manifest and the command say the same', () => {
  const { spec } = deriveNewVm(choices).vm;
  assert.deepEqual([spec.runStrategy, spec.template.spec.domain.cpu?.cores], ['Halted', 2]);
  assert.match(
    deriveCommand(deriveNewVm(choices)),
    /create vm --name web .*src:localhost\/guests\/tiny.* --memory 256Mi --cpus 2 --run-strategy Halted/,
  );
});

test('images in use come first', () => {
  assert.deepEqual(deriveImages(['docker.io/library/k:latest', 'b', 'b'], ['k']), ['b', 'k']);
  assert.deepEqual(deriveImages(['b', undefined, 'b', 'a', '<img src=x>\u202e'], ['k']), ['b', 'a', 'k']);
});

test('the palette has pages, machines and what can be done to them now, by any words of theirs', () => {
  const labels = (text: string) => derivePalette(running(), text).map(({ label }) => label);
  assert.deepEqual(labels('nod'), ['Nodes']);
  assert.deepEqual(labels('machine'), ['Machines', 'Create a machine']);
  const [name = ''] = running().map((each) => each.name);
  assert.deepEqual(labels(`${name} CONSOLE`), [`Console of ${name}`]);
  assert.ok(labels(name).some((label) => label.startsWith('Stop')) && !labels(name).some((label) => label.startsWith('Start')));
  const [machine] = running();
  const many = Array.from({ length: 10_000 }, () => machine).flatMap((each) => each ?? []);
  assert.deepEqual(labels('theme da'), ['Theme: dark']);
  assert.equal(derivePalette(many, '').length, 20);
  assert.deepEqual(labels('no such thing'), []);
  const rights = new Map([[machine?.namespace ?? '', new Set(['stop'] as const)]]);
  assert.deepEqual(derivePalette(running(), `stop ${name}`, rights), []);
});

test('an action on many is for those that can, says of the others why not, and is a line for each namespace', () => {
  const [machine] = running();
  const named = (name: string, namespace: string) => ({ ...(machine ?? assert.fail()), key: `${namespace}/${name}`, namespace, name });
  const all = [named('a', 'default'), named('b', 'default'), named('c', 'team'), named('d', 'closed')];
  const { able, unable, commands } = deriveBulk('stop', all, { forbidden: new Map([['closed', new Set(['stop'] as const)]]), nowMs: 0 });
  assert.deepEqual(
    able.map(({ name }) => name),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(
    unable.map(({ machine: { name }, why }) => `${name}: ${why}`),
    ['d: you may not stop machines in closed'],
  );
  assert.deepEqual(commands, ['virtctl stop a b', 'virtctl stop c -n team']);
  assert.deepEqual(deriveBulk('start', all, { forbidden: new Map(), nowMs: 0 }).able, []);
});

test('many are kept or moved by a command each, of which a few are shown', () => {
  const all = ['a', 'b', 'c', 'd'].flatMap((name) => deriveMachines([vm('Always', {}, { name })], [vmi('Running', {}, { name })]));
  const bulk = (action: 'snapshot' | 'migrate', machines = all) => deriveBulk(action, machines, { forbidden: new Map(), nowMs: 0 });
  assert.deepEqual(bulk('snapshot').commands, [
    'virtctl snapshot a a-19700101t000000',
    'virtctl snapshot b b-19700101t000000',
    'virtctl snapshot c c-19700101t000000',
    '…',
  ]);
  assert.deepEqual(bulk('migrate', all.slice(0, 1)).commands, ['virtctl migrate a']);
  const alone = deriveMachines([], [vmi('Running')]);
  assert.deepEqual(
    bulk('snapshot', alone).unable.map(({ why }) => why),
    ['it has no VirtualMachine'],
  );
  const forbidden = new Map([['default', new Set(['snapshot'] as const)]]);
  assert.equal(deriveBulk('snapshot', all, { forbidden, nowMs: 0 }).unable[0]?.why, 'you may not take snapshots in default');
});

test('who deletes machines is told the disks that are lost, and those that stay', () => {
  const withDisk = (name: string, uid: string) => {
    const made = vm('Halted', {}, { name, uid });
    const { template } = made.spec;
    const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: `${name}-root` } }];
    const [machine] = deriveMachines(
      [{ ...made, spec: { ...made.spec, template: { ...template, spec: { ...template.spec, volumes } } } }],
      [],
    );
    return machine ?? assert.fail('there is one');
  };
  const claim = (name: string, owner: string) => ({
    apiVersion: 'v1' as const,
    kind: 'PersistentVolumeClaim' as const,
    metadata: { name, namespace: 'default', ownerReferences: [{ apiVersion: 'v1', kind: 'VirtualMachine', name: 'x', uid: owner }] },
    spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '10Gi' } } },
  });
  const machines = [withDisk('a', '1'), withDisk('b', '2')];
  assert.deepEqual(deriveLostDisks(machines, [claim('a-root', '1'), claim('b-root', 'another'), claim('c-root', '3')]), [
    'Lost for good, with all that is on them: a-root (10Gi).',
    'Disks of their own, which stay: b-root (10Gi).',
  ]);
  const folder = claim('a-root', '1');
  const annotations = { 'kubevirt.io/shared-folder': '/home/me/src' };
  assert.deepEqual(deriveLostDisks(machines, [{ ...folder, metadata: { ...folder.metadata, annotations } }]), [
    'Folders of the host, which stay: /home/me/src.',
  ]);
  assert.match(deriveLostDisks(machines, 'unknown').join(), /cannot be said .* a-root, b-root/);
  assert.deepEqual(deriveLostDisks(deriveMachines([vm('Halted')], []), []), []);
});
