import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineClone } from '../../api/kubevirt/kinds/vm-clone.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { ANNOTATION_LAST_RESTORE } from '../../api/kubevirt/names.ts';
import { explain } from '../../reconcile/decision.ts';
import { vm } from '../../testing/builders.ts';
import { Cluster } from '../cluster.testing.ts';
import { clonedVm, filtered } from './cloned-vm.ts';
import { decideVmClone, restoreNameOf, snapshotNameOf } from './decide.ts';
import type { ObservedVmClone } from './observed.ts';

const owner = { apiVersion: 'clone.kubevirt.io/v1beta1', kind: 'VirtualMachineClone', name: 'c', uid: 'c-1', controller: true };

function clone(spec: Partial<VirtualMachineClone['spec']> = {}, status?: VirtualMachineClone['status']): VirtualMachineClone {
  const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' };
  return {
    apiVersion: 'clone.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClone',
    metadata: { name: 'c', namespace: 'default', uid: 'c-1', resourceVersion: '1' },
    spec: { source, target: { ...source, name: 'copy' }, ...spec },
    ...(status && { status }),
  };
}

const snapshot = (status: VirtualMachineSnapshot['status'], isOurs = true) =>
  ({
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineSnapshot',
    metadata: { name: 'tmp-snapshot-c-1', namespace: 'default', uid: 's-1', ownerReferences: isOurs ? [owner] : [] },
    spec: { source: { kind: 'VirtualMachine', name: 'db' } },
    status,
  }) as VirtualMachineSnapshot;
const restore = (status: VirtualMachineRestore['status'] = {}) =>
  ({
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineRestore',
    metadata: { name: 'tmp-restore-c-1', namespace: 'default', uid: 'r-1', ownerReferences: [owner] },
    spec: { target: { kind: 'VirtualMachine', name: 'copy' }, virtualMachineSnapshotName: 'tmp-snapshot-c-1' },
    status,
  }) as VirtualMachineRestore;
const machine = (name: string, annotations = {}) => ({ ...vm('Halted'), metadata: { ...vm('Halted').metadata, name, annotations } });

const source = vm('Always');
const whole = snapshot({ readyToUse: true });
const ours = machine('copy', { [ANNOTATION_LAST_RESTORE]: 'r-1' });
const look = (seen: Partial<ObservedVmClone>) => explain(decideVmClone({ clone: clone(), now: 0, ...seen }));
const STATUS = 'patch VirtualMachineClone status default/c';

describe('decideVmClone', () => {
  const rules: [string, Partial<ObservedVmClone>, string[]][] = [
    ['a source that is not there is waited for', {}, [`${STATUS}: VirtualMachine db is not there`, 'look again in 5s']],
    [
      'the source is kept first',
      { source },
      [`${STATUS}: it is SnapshotInProgress`, 'create VirtualMachineSnapshot default/tmp-snapshot-c-1: its source is kept first'],
    ],
    ['a snapshot is waited for', { source, snapshot: snapshot({}) }, [`${STATUS}: its source is being kept`, 'look again in 0.5s']],
    [
      'what was kept becomes the new machine',
      { source, snapshot: whole },
      [`${STATUS}: it is RestoreInProgress`, 'create VirtualMachineRestore default/tmp-restore-c-1: its source is kept'],
    ],
    [
      'a machine that is there is not touched',
      { source, target: machine('copy') },
      [`${STATUS}: VirtualMachine copy is there already`, 'look again in 0.5s'],
    ],
    [
      'a snapshot that failed is the end',
      { source, snapshot: snapshot({ phase: 'Failed', error: { message: 'no CSI' } }) },
      [`${STATUS}: the snapshot failed: no CSI`, 'look again in 0.5s'],
    ],
    [
      'a restore that is complete is the end',
      { source, snapshot: whole, restore: restore({ complete: true }), target: ours },
      [`${STATUS}: it is Succeeded`, 'look again in 0.5s'],
    ],
    [
      'the restore goes first',
      { clone: clone({}, { phase: 'Succeeded' }), snapshot: whole, restore: restore({ complete: true }) },
      ['delete VirtualMachineRestore default/tmp-restore-c-1: the clone is over', 'look again in 0.5s'],
    ],
    [
      'the snapshot goes when no PVC needs it',
      { clone: clone({}, { phase: 'Succeeded' }), snapshot: whole },
      ['delete VirtualMachineSnapshot default/tmp-snapshot-c-1: the clone is over'],
    ],
    [
      'and stays while one does',
      { clone: clone({}, { phase: 'Succeeded' }), snapshot: whole, unbound: [{} as never] },
      ['look again in 5s'],
    ],
    [
      'a snapshot of somebody else stays',
      { clone: clone({}, { phase: 'Succeeded' }), snapshot: snapshot({ readyToUse: true }, false) },
      [],
    ],
  ];
  for (const [fact, seen, lines] of rules) test(fact, () => assert.deepEqual(look(seen), lines));
});

test('whenever virt-controller is killed, one machine is made, and nothing else is left', () => {
  for (let killAfter = 0; killAfter < 10; killAfter++) {
    const cluster = new Cluster();
    cluster.put({ ...clone(), metadata: { name: 'c', namespace: 'default', uid: 'c-1' } });
    cluster.put(source);
    for (let steps = 0; steps < 40; steps++) {
      const now = cluster.find<VirtualMachineClone>('VirtualMachineClone') as VirtualMachineClone;
      const { actions } = decideVmClone({
        clone: now,
        source: cluster.find<VirtualMachine>('VirtualMachine', 'db'),
        snapshot: cluster.find<VirtualMachineSnapshot>('VirtualMachineSnapshot', snapshotNameOf(now)),
        restore: cluster.find<VirtualMachineRestore>('VirtualMachineRestore', restoreNameOf(now)),
        target: cluster.find<VirtualMachine>('VirtualMachine', 'copy'),
        now: cluster.now,
      });
      cluster.apply({ actions: steps === killAfter ? actions.slice(0, 1) : actions });
      const [kept, making] = [
        cluster.find<VirtualMachineSnapshot>('VirtualMachineSnapshot'),
        cluster.find<VirtualMachineRestore>('VirtualMachineRestore'),
      ];
      if (kept && !kept.status) cluster.put({ ...kept, status: { readyToUse: true } } as VirtualMachineSnapshot);
      else if (making && !making.status) {
        cluster.put({
          ...machine('copy', { [ANNOTATION_LAST_RESTORE]: making.metadata.uid }),
          metadata: { ...machine('copy').metadata, uid: 'vm-2', annotations: { [ANNOTATION_LAST_RESTORE]: making.metadata.uid ?? '' } },
        });
        cluster.put({ ...making, status: { complete: true } } as VirtualMachineRestore);
      }
    }
    const left = ['VirtualMachineSnapshot', 'VirtualMachineRestore'].map((kind) => cluster.list(kind).length);
    assert.deepEqual(
      [cluster.find<VirtualMachineClone>('VirtualMachineClone')?.status?.phase, left],
      ['Succeeded', [0, 0]],
      `killed after ${killAfter}`,
    );
  }
});

describe('the new machine', () => {
  const domain = {
    firmware: { uuid: 'u', serial: 's' },
    devices: {
      interfaces: [
        { name: 'a', macAddress: '02:00:00:00:00:01' },
        { name: 'b', macAddress: '02:00:00:00:00:02' },
      ],
    },
  };
  const plain = vm('Halted', {}, { labels: { app: 'db', 'team/x': '1' }, annotations: { note: '1', [ANNOTATION_LAST_RESTORE]: 'r-1' } });
  const from = { ...plain, spec: { ...plain.spec, template: { spec: { ...plain.spec.template.spec, domain } } } } as VirtualMachine;

  test('has neither the addresses nor the identity of the first', () => {
    const { domain: now } = clonedVm(from, clone()).spec.template.spec;
    assert.deepEqual([now.firmware, now.devices.interfaces], [{}, [{ name: 'a' }, { name: 'b' }]]);
  });

  test('has those that it was given', () => {
    const { domain: now } = clonedVm(from, clone({ newMacAddresses: { b: '02:00:00:00:00:09' }, newSMBiosSerial: 'new' })).spec.template
      .spec;
    assert.deepEqual(
      [now.firmware, now.devices.interfaces?.map(({ macAddress }) => macAddress)],
      [{ serial: 'new' }, [undefined, '02:00:00:00:00:09']],
    );
  });

  test('has the labels and annotations that the filters let pass, and always what says where it is from', () => {
    const { metadata } = clonedVm(from, clone({ labelFilters: ['*', '!team/*'], annotationFilters: ['nothing'] }));
    assert.deepEqual([metadata.labels, metadata.annotations], [{ app: 'db' }, { [ANNOTATION_LAST_RESTORE]: 'r-1' }]);
  });

  test('filters are keys with stars, and no expression of theirs can take for ever', () => {
    const keys = { 'a.b/c': '', 'a.b/cd': '', x: '' };
    const kept = (...filters: string[]) => Object.keys(filtered(keys, filters));
    assert.deepEqual(
      [kept('a.b/*'), kept('*c'), kept('!x'), kept('a\\.b/.*'), kept('a.b/c'), kept('*b*d')],
      [['a.b/c', 'a.b/cd'], ['a.b/c'], ['a.b/c', 'a.b/cd'], ['a.b/c', 'a.b/cd'], ['a.b/c'], ['a.b/cd']],
    );
    assert.deepEqual(filtered({ ['a'.repeat(50_000)]: '' }, [`${'*a'.repeat(5_000)}b`]), {});
  });
});
