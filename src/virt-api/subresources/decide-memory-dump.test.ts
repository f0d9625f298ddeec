import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VmSituation } from '../../api/kubevirt/vm-can.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { decideMemoryDump, decideRemoveMemoryDump, dumpClaimNameOf } from './decide-memory-dump.ts';
import type { Outcome } from './outcome.ts';

type Request = NonNullable<VmStatus['memoryDumpRequest']>;
const claim = (spec: Partial<PersistentVolumeClaim['spec']> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'dump', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
});
const up: VmSituation = { vm: vm('Always'), vmi: vmi('Running') };
const after = (request: Partial<Request>): VmSituation => ({
  ...up,
  vm: vm('Always', { memoryDumpRequest: { claimName: 'dump', phase: 'Completed', ...request } }),
});
const to = (situation: VmSituation, found: PersistentVolumeClaim | undefined = claim(), claimName = 'dump') =>
  decideMemoryDump(situation, { claimName, claim: found });
const said = (outcome: Outcome) => ('refused' in outcome ? `${outcome.refused.reason}: ${outcome.refused.message}` : 'yes');

const CASES: readonly [string, Outcome, RegExp][] = [
  ['a guest that runs is dumped', to(up), /^yes$/],
  ['again to the same PVC', to(after({})), /^yes$/],
  ['also after a failure', to(after({ phase: 'Failed' })), /^yes$/],
  ['a PVC has to be named', to(up, undefined, ''), /^BadRequest: .*requires claim name/],
  ['by a name that a volume can have', to(up, claim(), 'a.b'), /^BadRequest: claimName/],
  ['not to another PVC than the last one', to(after({ claimName: 'other' })), /^Conflict: PVC other is associated .*memory-dump remove/],
  ['not without an instance', to({ vm: vm('Halted') }), /^NotFound: VM is not running/],
  ['nor one that has not started', to({ ...up, vmi: vmi('Scheduling') }), /^Conflict: VM is not running/],
  ['one at a time', to(after({ phase: 'InProgress' })), /^Conflict: memory dump to PVC dump is in progress/],
  ['not while the PVC is let go', to(after({ remove: true })), /^Conflict: PVC dump of the last memory dump is being removed/],
  ['the PVC has to be there', decideMemoryDump(up, { claimName: 'dump', claim: undefined }), /^NotFound: PVC default\/dump not found/],
  ['with a file system', to(up, claim({ volumeMode: 'Block' })), /^Conflict: PVC dump is a block device/],
  ['which can be written', to(up, claim({ accessModes: ['ReadOnlyMany'] })), /^Conflict: PVC dump is read-only/],
  [
    'and has room',
    to(up, claim({ resources: { requests: { storage: '64Mi' } } })),
    /^Conflict: PVC dump has 64Mi, a dump of this guest needs \d+Mi/,
  ],
  ['not to a volume of the machine', to(up, claim(), 'root'), /^Conflict: volume root of the VM has this name/],
  ['what is not there is not removed', decideRemoveMemoryDump(up), /^Conflict: VM has no memory dump/],
  ['nor what is being removed', decideRemoveMemoryDump(after({ remove: true })), /^Conflict: .*removed already/],
  ['a dump that is being made is, which ends it', decideRemoveMemoryDump(after({ phase: 'InProgress' })), /^yes$/],
  ['of a machine that is stopped, too', decideRemoveMemoryDump({ vm: after({}).vm }), /^yes$/],
];
for (const [name, outcome, expected] of CASES) test(name, () => assert.match(said(outcome), expected));

test('a new dump forgets what is known of the last one', () => {
  const outcome = to(after({ fileName: 'f', message: 'm' }));
  assert.ok('writes' in outcome);
  const nothing = { remove: null, startTimestamp: null, endTimestamp: null, fileName: null, message: null };
  assert.deepEqual(outcome.writes[0]?.patch, { status: { memoryDumpRequest: { ...nothing, claimName: 'dump', phase: 'Associating' } } });
});

test('without a name the PVC of the last dump is meant', () => {
  assert.deepEqual([dumpClaimNameOf(up), dumpClaimNameOf(after({})), dumpClaimNameOf({ ...after({}), claimName: 'b' })], ['', 'dump', 'b']);
});
