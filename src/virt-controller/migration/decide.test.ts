import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { DEFAULT_MIGRATIONS } from '../../api/kubevirt/configuration/migration-settings.ts';
import type { MigrationPhase, VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { FINALIZER_MIGRATION, LABEL_CREATED_BY, LABEL_MIGRATION_TARGET_NODE } from '../../api/kubevirt/names.ts';
import { launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { decideMigration } from './decide.ts';
import type { ObservedMigration } from './observed.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const NAME = launcherPodNameOf(vmi('Running'), 'm1');
const VMI = 'patch VirtualMachineInstance default/db:';
const STATUS = 'patch VirtualMachineInstanceMigration status default/move:';

function migration(phase?: MigrationPhase, metadata: Partial<ObjectMeta> = {}): VirtualMachineInstanceMigration {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name: 'move', namespace: 'default', uid: 'm1', resourceVersion: '1', finalizers: [FINALIZER_MIGRATION], ...metadata },
    spec: { vmiName: 'db' },
    ...(phase && { status: { phase } }),
  };
}

function toldAt(phase: MigrationPhase): VirtualMachineInstanceMigration {
  const stamps = [{ phase: 'PreparingTarget' as const, phaseTransitionTimestamp: '2026-01-01T00:00:00Z' }];
  return { ...migration(phase), status: { phase, phaseTransitionTimestamps: stamps } };
}

function target(state: 'pending' | 'running' | 'ended', metadata: Partial<ObjectMeta> = {}): Pod {
  const stamp = new Date(now).toISOString();
  const pod = launcherPod(
    state === 'pending'
      ? { waiting: { reason: 'x' } }
      : state === 'running'
        ? { running: { startedAt: stamp } }
        : { terminated: { exitCode: 1, reason: 'Error' } },
    {},
    { name: NAME, uid: 'pod-2', creationTimestamp: stamp, ...metadata },
  );
  return { ...pod, spec: { ...pod.spec, nodeName: 'n2' } };
}

const unplaced = { ...target('pending'), spec: { ...target('pending').spec, nodeName: undefined } } as unknown as Pod; // as before it has one
const noRoom = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes are available' } as const;
const homeless: Pod = { ...unplaced, status: { ...unplaced.status, conditions: [noRoom] } };
const LATE = `${STATUS} Failed: the Pod that it was to go to did not come up in time`;
const told = { migrationUid: 'm1', sourceNode: 'n1', sourcePod: 'virt-launcher-db-8tfgs', targetNode: 'n2', targetPod: NAME };
const on = (migrationState?: VmiStatus['migrationState'], metadata: Partial<ObjectMeta> = {}) =>
  vmi('Running', { nodeName: 'n1', ...(migrationState && { migrationState }) }, metadata);
const labelled = { labels: { [LABEL_MIGRATION_TARGET_NODE]: 'n2' } };
const completed = { ...told, completed: true, endTimestamp: '2026-01-01T00:00:00Z' };

const busy = (status: Partial<VmiStatus>) => vmi('Running', { nodeName: 'n1', ...status });
const backedUp = busy({ changedBlockTracking: { state: 'Disabled', backupStatus: { backupUID: 'b1', claimName: 'c' } } });
const WAITS = 'it is moved when that is over: the disks of the guest are being backed up';
const blocked = (phase: MigrationPhase) => ({
  ...migration(phase),
  status: { phase, conditions: [{ type: 'migrationBlockedByBackup', status: 'True' as const, reason: 'GuestBusy', message: WAITS }] },
});

const cases: [string, Partial<ObservedMigration>, string[]][] = [
  [
    'a new one is claimed first',
    { migration: migration(undefined, { finalizers: [] }) },
    ['patch VirtualMachineInstanceMigration default/move: the migration is new'],
  ],
  ['and is Pending then', { migration: migration() }, [`${STATUS} Pending: the migration is new`]],
  ['it makes a Pod', { migration: migration('Pending') }, [`create Pod default/${NAME}: the instance needs a place to go to`]],
  ['not while many are under way', { migration: migration('Pending'), underWay: { inCluster: 5, fromNode: 0 } }, ['look again in 3s']],
  ['nor many from one node', { migration: migration('Pending'), underWay: { inCluster: 2, fromNode: 2 } }, ['look again in 3s']],
  [
    'a Pod makes it Scheduling',
    { migration: migration('Pending'), targetPod: target('pending') },
    [`${STATUS} Scheduling: there is a Pod for it to go to`],
  ],
  ['a Pod that is not up is waited for', { migration: migration('Scheduling'), targetPod: target('pending') }, ['look again in 900s']],
  [
    'not for ever',
    { migration: migration('Scheduling'), targetPod: target('pending'), now: now + 900_000 },
    [`${STATUS} Failed: the Pod that it was to go to did not come up in time`],
  ],
  ['one without a node not for that long', { migration: migration('Scheduling'), targetPod: unplaced, now: now + 300_000 }, [LATE]],
  [
    'that no node has room for it is said',
    { migration: migration('Scheduling'), targetPod: homeless },
    [`${STATUS} 0/1 nodes are available`, 'look again in 300s'],
  ],
  [
    'and why it has failed then',
    { migration: migration('Scheduling'), targetPod: homeless, now: now + 300_000 },
    [`${STATUS} Failed: no node has room for the Pod that it was to go to: 0/1 nodes are available`],
  ],
  [
    'a Pod that may not be made is tried again, and it is said why',
    { migration: migration('Pending'), createError: 'pods "x" is forbidden: exceeded quota: q' },
    [`${STATUS} pods "x" is forbidden: exceeded quota: q`, `create Pod default/${NAME}: the instance needs a place to go to`],
  ],
  [
    'one with a node may be fetching its image',
    { migration: migration('Scheduling'), targetPod: target('pending'), now: now + 300_000 },
    ['look again in 600s'],
  ],
  [
    'or as long as the migration says',
    {
      migration: migration('Scheduling', { annotations: { 'kubevirt.io/migrationPendingPodTimeoutSeconds': '60' } }),
      targetPod: target('pending'),
      now: now + 60_000,
    },
    [LATE],
  ],
  [
    'a Pod that is up makes it Scheduled',
    { migration: migration('Scheduling'), targetPod: target('running') },
    [`${STATUS} Scheduled: the Pod runs on n2`],
  ],
  [
    'a machine that is to be suspended is not moved',
    { migration: migration('Scheduling'), vmi: busy({ suspension: { phase: 'Saving' } }), targetPod: target('pending') },
    [`${STATUS} Failed: the machine is being suspended or resumed`],
  ],
  [
    'a backup is waited for before there is a Pod',
    { migration: migration('Pending'), vmi: backedUp },
    [`${STATUS} ${WAITS}`, 'look again in 3s'],
  ],
  ['which is said once', { migration: blocked('Pending'), vmi: backedUp }, ['look again in 3s']],
  [
    'and not for ever when there is one',
    { migration: blocked('Scheduled'), vmi: backedUp, targetPod: target('running') },
    ['look again in 900s'],
  ],
  [
    'then it has failed, and says of what',
    { migration: blocked('Scheduled'), vmi: backedUp, targetPod: target('running'), now: now + 900_000 },
    [`${STATUS} Failed: it cannot be moved yet: the disks of the guest are being backed up`],
  ],
  [
    'so is a thaw',
    { migration: migration('Scheduled'), vmi: busy({ fsFreezeStatus: 'frozen' }), targetPod: target('running') },
    ['look again in 900s'],
  ],
  [
    'a volume that was plugged in meanwhile holds it to its node',
    {
      migration: migration('Scheduled'),
      vmi: busy({ volumeStatus: [{ name: 'v', target: '', hotplugVolume: {} }] }),
      targetPod: target('running'),
    },
    [
      `${STATUS} Failed: cannot migrate VMI: volume v is hotplugged, and is attached to this node alone; virtctl removevolume takes it away`,
    ],
  ],
  [
    'one whose Pod is up while too many are under way is not told yet',
    { migration: migration('Scheduled'), targetPod: target('running'), underWay: { inCluster: 5, fromNode: 0 } },
    ['look again in 3s'],
  ],
  ['then both nodes are told', { migration: migration('Scheduled'), targetPod: target('running') }, [`${VMI} the target Pod runs`]],
  [
    'which makes it PreparingTarget',
    { migration: migration('Scheduled'), vmi: on(told), targetPod: target('running') },
    [`${STATUS} PreparingTarget: both nodes were told`],
  ],
  [
    'a target that says where makes it TargetReady',
    { migration: migration('PreparingTarget'), vmi: on({ ...told, targetNodeAddress: 'a' }), targetPod: target('running') },
    [`${STATUS} TargetReady: the target waits`],
  ],
  [
    'a target that says nothing is waited for',
    { migration: toldAt('PreparingTarget'), vmi: on(told), targetPod: target('running'), now: now + 60_000 },
    ['look again in 840s'],
  ],
  [
    'and not for ever: the guest stays',
    { migration: toldAt('PreparingTarget'), vmi: on(told), targetPod: target('running'), now: now + 900_000 },
    [`${VMI} node n2 has not got ready to take the guest in time: virt-handler there may be away`],
  ],
  [
    'nor is a source that does not begin',
    { migration: toldAt('TargetReady'), vmi: on({ ...told, targetNodeAddress: 'a' }), targetPod: target('running'), now: now + 900_000 },
    [`${VMI} node n1 has not begun to send the guest in time: virt-handler there may be away`],
  ],
  [
    'one that has begun has limits of its own',
    { migration: toldAt('Running'), vmi: on({ ...told, startTimestamp: 'T' }), targetPod: target('running'), now: now + 900_000 },
    [],
  ],
  [
    'a source that begins makes it Running',
    { migration: migration('TargetReady'), vmi: on({ ...told, startTimestamp: '2026-01-01T00:00:00Z' }), targetPod: target('running') },
    [`${STATUS} Running: the guest is being sent`],
  ],
  ['a guest that was handed over is waited for', { migration: migration('Running'), vmi: on(completed), targetPod: target('running') }, []],
  [
    'one that is there has been moved',
    {
      migration: migration('Running'),
      vmi: on({ ...completed, targetNodeDomainReadyTimestamp: '2026-01-01T00:00:00Z' }),
      targetPod: target('running'),
    },
    [`${STATUS} Succeeded: The instance runs on node n2`],
  ],
  [
    'the nodes say why it stayed',
    { migration: migration('Running'), vmi: on({ ...told, failed: true, failureReason: 'broken pipe' }), targetPod: target('running') },
    [`${STATUS} Failed: broken pipe`],
  ],
  [
    'an instance that is gone is not moved',
    { migration: migration('Pending'), vmi: undefined },
    [`${STATUS} Failed: the instance is gone`],
  ],
  [
    'nor one that has ended',
    { migration: migration('Running'), vmi: vmi('Failed', { migrationState: told }), targetPod: target('running') },
    [`${STATUS} Failed: the instance does not run`],
  ],
  [
    'the second of two fails',
    { migration: migration('Pending'), earlier: 'first' },
    [`${STATUS} Failed: the instance is being moved already, by first`],
  ],
  [
    'so does one whose instance another has taken',
    { migration: migration('Running'), vmi: on({ ...told, migrationUid: 'm2' }) },
    [`${STATUS} Failed: another migration has taken the instance over`],
  ],
  [
    'a deleted one of which no node knows fails',
    { migration: migration('Scheduling', deleted), targetPod: target('pending') },
    [`${STATUS} Failed: the migration was cancelled`],
  ],
  [
    'of another the nodes are asked to abort',
    { migration: migration('Running', deleted), vmi: on(told), targetPod: target('running') },
    [`${VMI} the migration was deleted`, `${STATUS} the migration was deleted`],
  ],
  [
    'a target that ends before the nodes know is a failure',
    { migration: migration('Scheduling'), targetPod: target('ended') },
    [`${STATUS} Failed: the Pod that it was to go to has ended`],
  ],
  [
    'after that the nodes are told first',
    { migration: migration('Running'), vmi: on(told), targetPod: target('ended') },
    [`${VMI} the target Pod has ended`],
  ],
  [
    'afterwards nobody looks for a guest at the target',
    { migration: migration('Failed'), vmi: on({ ...told, failed: true }, labelled), targetPod: target('running') },
    [`${VMI} the migration is over`],
  ],
  [
    'then the Pod goes that it did not go to',
    { migration: migration('Failed'), vmi: on({ ...told, failed: true }), targetPod: target('running') },
    [`delete Pod default/${NAME}: the instance does not come to it`],
  ],
  [
    'then the migration may',
    { migration: migration('Failed'), vmi: on({ ...told, failed: true }), targetPod: target('ended') },
    ['patch VirtualMachineInstanceMigration default/move: the migration is over'],
  ],
  [
    'the Pod that a guest is in stays',
    { migration: migration('Failed', { finalizers: [] }), vmi: on(completed), targetPod: target('running') },
    [],
  ],
];

describe('a migration', () => {
  const launcher = { image: 'launcher' };
  const usual = { vmi: on(), underWay: { inCluster: 0, fromNode: 0 }, finished: [], settings: DEFAULT_MIGRATIONS, launcher, now };
  for (const [name, seen, expected] of cases)
    test(name, () => assert.deepEqual(explain(decideMigration({ ...usual, migration: migration(), ...seen })), expected));

  test('with one that is forgotten goes the Pod that the guest left by it, and with an instance go all', () => {
    const kept = Array.from({ length: 5 }, (_, i) => migration('Succeeded', { name: `m${i}`, uid: `u${i}` }));
    const old = { ...migration('Succeeded', { name: 'old' }), status: { phase: 'Succeeded', migrationState: completed } } as const;
    const failed = { ...migration('Failed', { name: 'older' }), status: { phase: 'Failed', migrationState: told } } as const;
    const over = migration('Succeeded', { finalizers: [] });
    assert.deepEqual(explain(decideMigration({ ...usual, migration: over, finished: [...kept, old, failed] })), [
      'delete Pod default/virt-launcher-db-8tfgs: its guest left it long ago',
      'delete VirtualMachineInstanceMigration default/old: 5 of an instance are kept',
      'delete VirtualMachineInstanceMigration default/older: 5 of an instance are kept',
    ]);
    assert.deepEqual(explain(decideMigration({ ...usual, vmi: undefined, migration: over })), [
      'delete VirtualMachineInstanceMigration default/move: its instance is gone',
    ]);
  });

  test('five that are over are kept', () => {
    const finished = Array.from({ length: 7 }, (_, i) => migration('Succeeded', { name: `m${i}`, uid: `u${i}` }));
    const explained = explain(decideMigration({ ...usual, migration: migration('Succeeded', { finalizers: [] }), finished }));
    assert.deepEqual(explained, [
      'delete VirtualMachineInstanceMigration default/m5: 5 of an instance are kept',
      'delete VirtualMachineInstanceMigration default/m6: 5 of an instance are kept',
    ]);
  });

  test('both nodes are told by one write, which leaves nothing of the move before', () => {
    const before = { migrationUid: 'm0', completed: true, targetNodeDomainReadyTimestamp: 'T', targetPod: 'virt-launcher-db-older' };
    const vmiBefore = on(before);
    const [action] = decideMigration({ ...usual, vmi: vmiBefore, migration: migration('Scheduled'), targetPod: target('running') }).actions;
    assert.ok(action?.do === 'patch');
    assert.deepEqual(action.patch, {
      metadata: { labels: { [LABEL_MIGRATION_TARGET_NODE]: 'n2' } },
      status: {
        migrationState: {
          completed: null,
          targetNodeDomainReadyTimestamp: null,
          ...told,
          sourcePod: 'virt-launcher-db-older',
          migrationNetworkType: 'Pod',
          migrationConfiguration: DEFAULT_MIGRATIONS,
        },
      },
    });
  });

  test('neither is told before the guest is back from a move that failed, nor while another one is under way', () => {
    const sent = { migrationUid: 'm0', startTimestamp: 'T' };
    const seen = (phase: MigrationPhase, state: VmiStatus['migrationState'], targetPod?: Pod) =>
      explain(decideMigration({ ...usual, vmi: on(state), migration: migration(phase), targetPod }))[0];
    for (const state of [sent, { ...sent, failed: true }, { ...sent, completed: true }]) {
      assert.equal(seen('Pending', state), 'look again in 3s');
      assert.equal(seen('Scheduled', state, target('running')), 'look again in 900s');
    }
    const back = { ...sent, failed: true, sourceNodeDomainReadyTimestamp: 'T' };
    for (const state of [back, { migrationUid: 'm0', failed: true }])
      assert.equal(seen('Scheduled', state, target('running')), `${VMI} the target Pod runs`);
  });

  test('they are told what the move may take, by the policy that holds', () => {
    const settings = { ...DEFAULT_MIGRATIONS, progressTimeout: 7 };
    const spec = { selectors: {}, bandwidthPerMigration: '64Mi' };
    const policy = { apiVersion: 'migrations.kubevirt.io/v1alpha1', kind: 'MigrationPolicy', metadata: { name: 'slow' }, spec } as const;
    const [action] = decideMigration({
      ...usual,
      settings,
      policy,
      migration: migration('Scheduled'),
      targetPod: target('running'),
    }).actions;
    assert.ok(action?.do === 'patch');
    const { migrationState } = (action.patch as { status: { migrationState: object } }).status;
    const migrationConfiguration = { ...settings, bandwidthPerMigration: '64Mi' };
    assert.deepEqual(migrationState, { ...told, migrationNetworkType: 'Pod', migrationPolicyName: 'slow', migrationConfiguration });
  });

  test('how many go at once is for the configuration to say', () => {
    const settings = { ...DEFAULT_MIGRATIONS, parallelMigrationsPerCluster: 9, parallelOutboundMigrationsPerNode: 6 };
    const at = (inCluster: number, fromNode: number) =>
      explain(decideMigration({ ...usual, settings, migration: migration('Pending'), underWay: { inCluster, fromNode } }))[0];
    assert.deepEqual([at(9, 0), at(8, 6)], ['look again in 3s', 'look again in 3s']);
    assert.match(at(8, 5) ?? '', /^create Pod/);
  });

  test('the source of a move that was begun has a few seconds to say why its target has ended', () => {
    const vmi = on({ ...told, startTimestamp: new Date(now).toISOString() });
    const ended = (secondsAgo: number) => {
      const pod = target('ended');
      const terminated = { exitCode: 1, reason: 'Error', finishedAt: new Date(now - secondsAgo * 1000).toISOString() };
      const containerStatuses = pod.status?.containerStatuses?.map((each) => ({ ...each, state: { terminated } })) ?? [];
      return { ...pod, status: { ...pod.status, containerStatuses } } as Pod;
    };
    const lines = (targetPod: Pod) => explain(decideMigration({ ...usual, vmi, migration: migration('Running'), targetPod }));
    assert.deepEqual(lines(ended(1)), ['look again in 4s']);
    assert.deepEqual(lines(ended(5)), [`${VMI} the target Pod has ended`]);
  });

  test('a move that was begun ends at once when its target is deleted: the guest would come to a Pod that has half a minute to live', () => {
    const vmi = on({ ...told, startTimestamp: new Date(now).toISOString() });
    const deletionTimestamp = new Date(now + 35_000).toISOString(); // when its grace period is over
    const targetPod = target('running', { deletionTimestamp });
    const lines = explain(decideMigration({ ...usual, vmi, migration: migration('Running'), targetPod }));
    assert.deepEqual(lines, [`${VMI} the target Pod has ended`]);
  });

  test('the Pod is that of the start, elsewhere, and waits for a guest', () => {
    const selector = { vmiName: 'db', addedNodeSelector: { zone: 'b' } };
    const [action] = decideMigration({ ...usual, migration: { ...migration('Pending'), spec: selector } }).actions;
    assert.ok(action?.do === 'create');
    const { spec, metadata } = action.object as Pod;
    const term = { labelSelector: { matchLabels: { [LABEL_CREATED_BY]: 'vmi-1' } }, topologyKey: 'kubernetes.io/hostname' };
    assert.deepEqual(spec.affinity, { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } });
    assert.equal(spec.nodeSelector?.['zone'], 'b');
    assert.equal(spec.containers[0]?.env?.find(({ name }) => name === LAUNCHER_VARIABLES.incoming)?.value, 'm1');
    assert.equal(metadata.labels?.['kubevirt.io/migrationJobUID'], 'm1');
  });

  test('what it waited for is forgotten when it goes on', () => {
    const [action] = decideMigration({ ...usual, migration: blocked('Pending'), targetPod: target('pending') }).actions;
    assert.ok(action?.do === 'patch');
    assert.equal((action.patch as { status: { conditions: unknown } }).status.conditions, null);
    const [told] = decideMigration({ ...usual, migration: migration('Pending'), vmi: backedUp }).actions;
    assert.ok(told?.do === 'patch');
    const { conditions } = (told.patch as { status: { conditions: { type: string; status: string }[] } }).status;
    assert.deepEqual(
      conditions.map(({ type, status }) => [type, status]),
      [['migrationBlockedByBackup', 'True']],
    );
  });

  test('what holds it up is a condition, and told once; a migration that failed before the nodes were told says why', () => {
    const written = (seen: Partial<ObservedMigration>) => {
      const [action] = decideMigration({ ...usual, migration: migration(), ...seen }).actions;
      return action?.do === 'patch' ? [action.patch, action.event?.reason] : undefined;
    };
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const condition = { ...noRoom, lastTransitionTime };
    const scheduling = { migration: migration('Scheduling'), targetPod: homeless };
    assert.deepEqual(written(scheduling), [{ status: { conditions: [condition] } }, 'migrationTargetPodUnschedulable']);
    const shown = { ...migration('Scheduling'), status: { phase: 'Scheduling' as const, conditions: [condition] } };
    assert.equal(written({ ...scheduling, migration: shown }), undefined);
    const other = { ...noRoom, message: '0/2 nodes are available' };
    const worse: Pod = { ...homeless, status: { ...homeless.status, conditions: [other] } };
    assert.deepEqual(written({ migration: shown, targetPod: worse }), [
      { status: { conditions: [{ ...condition, ...other }] } },
      undefined,
    ]);
    const rejected = (createError: string) => written({ migration: migration('Pending'), createError });
    const quota = { type: 'migrationRejectedByResourceQuota', status: 'True', reason: 'ExceededQuota', message: 'exceeded quota: q' };
    assert.deepEqual(rejected('exceeded quota: q'), [{ status: { conditions: [{ ...quota, lastTransitionTime }] } }, undefined]);
    const denied = { type: 'Synchronized', status: 'False', reason: 'FailedCreate', message: 'denied' };
    assert.deepEqual(rejected('denied'), [{ status: { conditions: [{ ...denied, lastTransitionTime }] } }, undefined]);
    const phase = 'Failed';
    const status = {
      phase,
      phaseTransitionTimestamps: [{ phase, phaseTransitionTimestamp: lastTransitionTime }],
      migrationState: { failed: true, failureReason: 'the migration was cancelled', endTimestamp: lastTransitionTime },
    };
    assert.deepEqual(written({ migration: migration('Pending', deleted) }), [{ status }, 'FailedMigration']);
  });
});
