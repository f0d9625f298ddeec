import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachine, VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpVolumeFor } from '../../api/kubevirt/volumes/dump-volume.ts';
import { explain } from '../../reconcile/decision.ts';
import { reached, vm, vmi } from '../../testing/builders.ts';
import { decideVm } from './decide.ts';
import { memoryDumpActions, memoryDumpAfter, syncDumpTemplate } from './memory-dump.ts';
import type { ObservedVm } from './observed.ts';
import { vmiFor } from './vmi-for.ts';

type Request = NonNullable<VmStatus['memoryDumpRequest']>;
type Phase = NonNullable<NonNullable<VmiStatus['volumeStatus']>[number]['phase']>;
const now = Date.parse('2026-01-01T00:00:00Z');
const ran = reached('Pending', 'Scheduling', 'Scheduled', 'Running');
const dump = dumpVolumeFor('dump');

function machine(request: Partial<Request>, isIn = true): VirtualMachine {
  const made = vm('Always', { memoryDumpRequest: { claimName: 'dump', phase: 'Associating', ...request } });
  const { template } = made.spec;
  const volumes = [...(template.spec.volumes ?? []), ...(isIn ? [dump] : [])];
  return { ...made, spec: { ...made.spec, template: { ...template, spec: { ...template.spec, volumes } } } };
}

function instance(phase: Phase | undefined, isIn = true): VirtualMachineInstance {
  const info = { claimName: 'dump', startTimestamp: 'S', endTimestamp: 'E', targetFileName: 'f' };
  const volumeStatus = phase ? [{ name: 'dump', target: '', phase, message: 'why', hotplugVolume: {}, memoryDumpVolume: info }] : [];
  const made = vmi('Running', { ...ran, volumeStatus });
  return { ...made, spec: { ...made.spec, volumes: [...(made.spec.volumes ?? []), ...(isIn ? [dump] : [])] } };
}

const seen = (request: Partial<Request>, of: Partial<ObservedVm> = {}): ObservedVm => ({ vm: machine(request), now, ...of });

const CASES: readonly [string, ObservedVm, after: string | undefined, template: number, actions: string[]][] = [
  [
    'the template has the volume first',
    { vm: machine({}, false), vmi: instance(undefined, false), now },
    'Associating',
    1,
    ['patch VirtualMachineInstance'],
  ],
  ['then the instance', seen({}, { vmi: instance(undefined, false) }), 'Associating', 0, ['patch VirtualMachineInstance']],
  ['what is on its way is waited for', seen({}, { vmi: instance('Bound') }), 'Associating', 0, []],
  ['a dump that is being made is in progress', seen({}, { vmi: instance('MemoryDumpInProgress') }), 'InProgress', 0, []],
  ['nothing is dumped of a machine that has stopped', seen({}), 'Failed', 0, ['record MemoryDumpFailed']],
  [
    'nor of one that has started anew meanwhile',
    seen({ phase: 'InProgress' }, { vmi: instance(undefined, false) }),
    'Failed',
    0,
    ['record MemoryDumpFailed'],
  ],
  [
    'made, it is let go of',
    seen({ phase: 'InProgress' }, { vmi: instance('MemoryDumpCompleted') }),
    'Unmounting',
    0,
    ['patch VirtualMachineInstance'],
  ],
  ['and waited for', seen({ phase: 'Unmounting' }, { vmi: instance('UnMountedFromPod', false) }), 'Unmounting', 0, []],
  [
    'and complete when it is gone',
    seen({ phase: 'Unmounting', fileName: 'f' }, { vmi: instance(undefined, false) }),
    'Completed',
    0,
    ['patch PersistentVolumeClaim', 'record MemoryDumpCompleted'],
  ],
  [
    'a failure is told, and the volume goes',
    seen({ phase: 'InProgress' }, { vmi: instance('MemoryDumpFailed') }),
    'Failed',
    0,
    ['patch VirtualMachineInstance', 'record MemoryDumpFailed'],
  ],
  ['also when nobody had seen it begin', seen({}, { vmi: instance('MemoryDumpFailed') }), 'InProgress', 0, []],
  ['what is over stays', seen({ phase: 'Completed' }, { vmi: instance(undefined, false) }), 'Completed', 0, []],
  [
    'a dump that is being made is taken away',
    seen({ phase: 'InProgress', remove: true }, { vmi: instance('MemoryDumpInProgress') }),
    'Dissociating',
    1,
    ['patch VirtualMachineInstance'],
  ],
  ['it is waited for', { vm: machine({ phase: 'Dissociating' }, false), vmi: instance('Detaching', false), now }, 'Dissociating', 0, []],
  ['and forgotten', { vm: machine({ phase: 'Dissociating' }, false), vmi: instance(undefined, false), now }, undefined, 0, []],
  ['of a machine that is stopped at once', { vm: machine({ phase: 'Dissociating' }, false), now }, undefined, 0, []],
];

describe('a memory dump of a machine', () => {
  for (const [name, observed, phase, template, actions] of CASES)
    test(name, () => {
      const short = explain({ actions: memoryDumpActions(observed) }).map((line) => line.split(' ').slice(0, 2).join(' '));
      const kinds = memoryDumpActions(observed).map((each, index) => (each.do === 'record' ? `record ${each.event.reason}` : short[index]));
      assert.deepEqual([memoryDumpAfter(observed)?.phase, syncDumpTemplate(observed).length, kinds], [phase, template, actions]);
    });

  test('the request tells what the volume tells', () => {
    const request = memoryDumpAfter(seen({ phase: 'InProgress' }, { vmi: instance('MemoryDumpCompleted') }));
    assert.deepEqual(request, { claimName: 'dump', phase: 'Unmounting', startTimestamp: 'S', endTimestamp: 'E', fileName: 'f' });
    const failed = memoryDumpAfter(seen({ phase: 'InProgress' }, { vmi: instance('MemoryDumpFailed') }));
    assert.deepEqual([failed?.phase, failed?.message], ['Failed', 'why']);
  });

  test('the template alone is written in its pass, and no restart is asked for', () => {
    const lines = explain(decideVm({ vm: machine({}, false), vmi: instance(undefined, false), now }));
    assert.deepEqual(lines, ['patch VirtualMachine default/db: its memory is to be dumped to a PVC']);
  });

  test('no instance is started with the volume', () => {
    const made = vmiFor(machine({ phase: 'Completed' }), { isPaused: false, revisionName: 'r', now });
    assert.ok(!made.spec.volumes?.some(({ memoryDump }) => memoryDump));
    assert.ok(!made.spec.domain.devices.disks?.some(({ name }) => name === 'dump'));
  });
});
