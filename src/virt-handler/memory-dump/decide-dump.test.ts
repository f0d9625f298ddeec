import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { launcherPod } from '../../testing/builders.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { deleted, domain, followed, now, running } from '../vmi/world.testing.ts';
import { decideDump, dumpStatus } from './decide-dump.ts';

type Entry = NonNullable<VmiStatus['volumeStatus']>[number];
const entry: Entry = {
  name: 'dump',
  target: '',
  phase: 'AttachedToNode',
  hotplugVolume: { attachPodName: 'p', attachPodUID: 'p1' },
  memoryDumpVolume: { claimName: 'dump' },
};
const to = { podUid: 'p1', fileName: 'f', bytes: 1 };
const at = { command: { name: 'dump', to }, givenAt: now, tries: 1, endedAt: now } as const;
const by = (state: CommandState) => ({ commands: { 'dump p1': state } });
const dumping: CommandState = { ...at, is: 'running' };
const dumped: CommandState = { ...at, is: 'done', result: { bytes: 5 * 2 ** 20 } };
const lied: CommandState = { ...at, is: 'done', result: { bytes: -1 } };
const full: CommandState = { ...at, is: 'failed', reason: 'ENOSPC: no space left on device' };
const of = (phase: NonNullable<Entry['phase']>) =>
  running({
    volumeStatus: [
      { name: 'root', target: 'vda' },
      { ...entry, phase },
    ],
  });
const begun = of('MemoryDumpInProgress');

const CASES: readonly [string, Partial<ObservedDomain>, phase: string | undefined, message: string | undefined, actions: string[]][] = [
  ['a Pod that is not there yet is waited for', { vmi: of('Bound') }, undefined, undefined, []],
  [
    'the write comes first, then the dump',
    { vmi: of('AttachedToNode') },
    'MemoryDumpInProgress',
    'The memory of the guest is being dumped to PVC dump',
    ['dump p1'],
  ],
  [
    'a guest that is paused can be dumped',
    { vmi: of('AttachedToNode'), domain: domain('paused') },
    'MemoryDumpInProgress',
    undefined,
    ['dump p1'],
  ],
  [
    'one that nobody can be asked about is waited for',
    { vmi: of('AttachedToNode'), domain: domain('unresponsive') },
    undefined,
    undefined,
    [],
  ],
  [
    'one that is to stop is not dumped',
    { vmi: deleted(30, of('AttachedToNode')) },
    'MemoryDumpFailed',
    'the instance is being stopped',
    [],
  ],
  ['a dump is waited for', { vmi: begun, domain: domain('running', by(dumping)) }, undefined, undefined, []],
  [
    'a guest that is to stop is let go: it would not power off',
    { vmi: deleted(30, begun), domain: domain('running', by(dumping)) },
    undefined,
    undefined,
    ['end-dump'],
  ],
  [
    'a virt-handler that was killed has dumped nothing',
    { vmi: begun },
    'MemoryDumpFailed',
    'virt-handler was restarted while the memory was dumped',
    [],
  ],
  ['a full disk is told', { vmi: begun, domain: domain('running', by(full)) }, 'MemoryDumpFailed', 'ENOSPC: no space left on device', []],
  [
    'an answer that is none is not believed',
    { vmi: begun, domain: domain('running', by(lied)) },
    'MemoryDumpFailed',
    'nobody said what was dumped',
    [],
  ],
  [
    'what is on the PVC is told',
    { vmi: begun, domain: domain('running', by(dumped)) },
    'MemoryDumpCompleted',
    'The memory of the guest is dumped, 5 MiB',
    [],
  ],
  [
    'a dump that nobody wants is ended',
    { vmi: of('Detaching'), domain: domain('running', by(dumping)) },
    undefined,
    undefined,
    ['end-dump'],
  ],
  ['and let go of then', { vmi: of('Detaching'), domain: domain('running', by(full)) }, 'UnMountedFromPod', undefined, []],
  ['what is over is left alone', { vmi: of('MemoryDumpCompleted') }, undefined, undefined, []],
];

describe('a dump of the memory', () => {
  for (const [name, seen, phase, message, ids] of CASES)
    test(name, () => {
      const observed: ObservedDomain = {
        followed,
        pod: launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } }),
        domain: domain('running'),
        vmi: begun,
        now,
        ...seen,
      };
      const after = dumpStatus(observed)?.find((each) => each.name === 'dump');
      const actions = decideDump(observed).map((action) => (action.do === 'command' ? action.id : action.do));
      assert.deepEqual([after?.phase, message === undefined ? undefined : after?.message, actions], [phase, message, ids]);
    });

  test('the file is called after the machine, the PVC and the time, and other volumes are as they were', () => {
    const volumes = dumpStatus({ followed, domain: domain('running'), vmi: of('AttachedToNode'), now });
    assert.match(volumes?.[1]?.memoryDumpVolume?.targetFileName ?? '', /^db-dump-\d{8}-\d{6}\.memory\.dump$/);
    assert.deepEqual(volumes?.[0], { name: 'root', target: 'vda' });
  });
});
