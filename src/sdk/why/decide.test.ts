import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../api/core/event.ts';
import type { Node } from '../../api/core/node.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Condition } from '../../api/meta.ts';
import { launcherPod, reached, vm, vmi } from '../../testing/builders.ts';
import { decideWhy } from './decide.ts';
import type { Observed } from './observed.ts';

const AT = '2026-01-01T00:00:00Z';
const now = Date.parse(AT) + 60_000;

function condition(type: string, status: Condition['status'], reason: string, message = 'said so'): Condition {
  return { type, status, reason, message, lastTransitionTime: AT };
}

function node(spec: Node['spec'] = {}, ready: Condition = condition('Ready', 'True', 'KubeletReady')): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec, status: { conditions: [ready] } };
}

const silent: Node = {
  ...node(),
  metadata: { name: 'n1', annotations: { 'kubevirt.io/heartbeat': '2025-12-31T23:55:00Z' } },
};

function claim(phase: 'Pending' | 'Bound', spec = {}): PersistentVolumeClaim {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec, status: { phase } };
}

/** Of the Pod. */
function eventOfPod(reason: Event['reason'], message: string): Event {
  return { ...crashed, involvedObject: { uid: 'pod-1' }, type: reason === 'Failed' ? 'Warning' : 'Normal', reason, message };
}

const crashed: Event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e' },
  involvedObject: {},
  type: 'Warning',
  reason: 'Stopped',
  message: 'The guest crashed.',
  source: { component: 'virt-handler' },
  firstTimestamp: AT,
  lastTimestamp: AT,
  count: 1,
};

const pulling = eventOfPod('Pulling', 'Pulling image "x"');
const pulled = eventOfPod('Pulled', 'Successfully pulled image "x"');
const notPulled = eventOfPod('Failed', 'Failed to pull image "x": no route');

function unschedulable(message: string): Partial<Observed> {
  const status = { conditions: [condition('PodScheduled', 'False', 'Unschedulable', message)] };
  const waiting = launcherPod({ waiting: { reason: 'Pending' } }, status);
  return { vm: vm('Always'), vmi: vmi('Scheduling'), pod: { ...waiting, spec: { containers: [] } } };
}

function running(...conditions: Condition[]): Partial<Observed> {
  const status: Partial<VmiStatus> = { nodeName: 'n1', conditions, ...reached('Running'), interfaces: [{ ipAddress: '10.244.0.2' }] };
  return { vm: vm('Always'), vmi: vmi('Running', status), pod: launcherPod({ running: { startedAt: AT } }) };
}

function moving(migrationState: VmiStatus['migrationState'], status: Partial<VmiStatus> = {}): Partial<Observed> {
  const seen = running();
  const state = { sourceNode: 'n1', targetNode: 'n2', ...migrationState };
  return { ...seen, vmi: vmi('Running', { ...seen.vmi?.status, ...status, migrationState: state }) };
}

const failing = { startFailure: { consecutiveFailCount: 3, retryAfterTimestamp: '2026-01-01T00:02:00Z' } };
const LAST_SHUTDOWN = condition('LastShutdown', 'True', 'GuestShutdown', 'The guest powered itself off');

type Case = [state: string, observed: Partial<Observed>, what: RegExp, evidence: RegExp, fix: RegExp];

const BLOCKED: readonly Case[] = [
  [
    'deleted, guest powering off',
    { vm: vm('Always', {}, { deletionTimestamp: AT }), vmi: vmi('Running', {}, { deletionTimestamp: '2026-01-01T00:00:58Z' }) },
    /db is being deleted and waits for its guest/,
    /asked 2s ago, grace period 5s: force stop in 3s/,
    /--force --grace-period 0/,
  ],
  [
    'just being stopped, as Kubernetes stamps an instance and its Pod',
    {
      vm: vm('Halted'),
      vmi: vmi('Running', {}, { deletionTimestamp: '2026-01-01T00:00:59Z', deletionGracePeriodSeconds: 0 }),
      pod: launcherPod({ running: { startedAt: AT } }, {}, { deletionTimestamp: '2026-01-01T00:01:34Z', deletionGracePeriodSeconds: 35 }),
    },
    /db is being stopped and waits for its guest/,
    /asked 1s ago, grace period 5s: force stop in 4s/,
    /--force --grace-period 0/,
  ],
  [
    'stopping past its grace period',
    { vm: vm('Halted'), vmi: vmi('Running', {}, { deletionTimestamp: AT }) },
    /db is being stopped/,
    /grace period 5s is over/,
    /--force/,
  ],
  [
    'deleted, only a finalizer left',
    { vm: vm('Always', {}, { deletionTimestamp: AT, finalizers: ['x/y'] }) },
    /being deleted$/,
    /x\/y/,
    /logs/,
  ],
  [
    'its node is lost',
    { ...running(), nodes: [node({}, condition('Ready', 'Unknown', 'NodeStatusUnknown', 'stopped posting'))] },
    /node of db does not report/,
    /Ready is Unknown, 60s ago: stopped posting/,
    /kubectl delete node n1/,
  ],
  [
    'the virt-handler of its node is silent',
    { ...running(), nodes: [silent] },
    /virt-handler on the node of db is silent/,
    /node n1: last heard of 6m/,
    /make sure that its guest is dead/,
  ],
  ['QEMU hangs', running(condition('Unresponsive', 'True', 'QMPTimeout')), /QEMU of db hangs/, /QMPTimeout/, /restart db --force/],
  ['paused', running(condition('Paused', 'True', 'PausedByUser')), /db is paused$/, /PausedByUser/, /virtctl unpause vm db/],
  ['paused by a full disk', running(condition('Paused', 'True', 'PausedIOError')), /could not be written/, /PausedIOError/, /make space/],
  ['running, not ready', running(condition('Ready', 'False', 'Probing')), /running but not ready/, /Probing/, /virtctl logs db/],
  [
    'a claim that does not exist',
    { vm: vm('Always'), claims: new Map([['data', undefined]]) },
    /needs the PVC data/,
    /claimName: data/,
    /create/,
  ],
  [
    'a claim that is not bound',
    { vm: vm('Always'), vmi: vmi('Pending'), claims: new Map([['data', claim('Pending', { storageClassName: 'fast' })]]) },
    /waits for its PVC data/,
    /data is Pending, class fast/,
    /describe pvc data/,
  ],
  [
    'a claim that names no class where there is no default one',
    { vm: vm('Always'), vmi: vmi('Pending'), claims: new Map([['data', claim('Pending')]]) },
    /names no storage class, and there is no default one/,
    /data is Pending/,
    /is-default-class=true/,
  ],
  [
    'an instance that is refused',
    { vm: vm('Always', { conditions: [condition('Failure', 'True', 'FailedCreate', 'quota')] }) },
    /an instance of db cannot be made/,
    /FailedCreate, quota/,
    /tried again/,
  ],
  [
    'a Pod that is refused',
    { vm: vm('Always'), vmi: vmi('Pending', { conditions: [condition('Synchronized', 'False', 'FailedCreate', 'denied')] }) },
    /a Pod of db cannot be made/,
    /denied/,
    /tried again/,
  ],
  [
    'an image that is not there',
    { vm: vm('Always'), vmi: vmi('Scheduling', { conditions: [condition('Synchronized', 'False', 'ImagePullBackOff', 'not found')] }) },
    /image that cannot be fetched/,
    /not found/,
    /images under localhost/,
  ],
  [
    'an image of the published documents that cannot be had, nor what stands in for it',
    {
      vm: vm('Always'),
      vmi: {
        ...vmi('Scheduling', { conditions: [condition('Synchronized', 'False', 'ImagePullBackOff', 'not found')] }),
        spec: { ...vmi('Scheduling').spec, volumes: [{ name: 'root', containerDisk: { image: 'kubevirt/cirros-container-disk-demo' } }] },
      },
    },
    /image that cannot be fetched/,
    /not found/,
    /virtctl up brings it in; .*tiny32/,
  ],
  [
    'one that could not be fetched and is tried again',
    {
      vm: vm('Always'),
      vmi: vmi('Scheduling'),
      pod: launcherPod({ waiting: { reason: 'ContainerCreating' } }),
      events: [notPulled, pulling],
    },
    /image that cannot be fetched/,
    /Failed to pull image "x": no route/,
    /bring the image in first/,
  ],
  ['no node', { ...unschedulable('no nodes available'), nodes: [] }, /there is no node/, /no nodes available/, /virtctl up/],
  [
    'every node is cordoned',
    { ...unschedulable('0/1 nodes are available: 1 node(s) were unschedulable.'), nodes: [node({ unschedulable: true })] },
    /every node is closed/,
    /Unschedulable/,
    /kubectl uncordon n1/,
  ],
  [
    'too big for every node',
    unschedulable('0/1 nodes are available: 1 Insufficient memory.'),
    /enough memory left/,
    /Insufficient memory/,
    /less memory/,
  ],
  [
    'a selector without a node',
    unschedulable("0/1 nodes: 1 node(s) didn't match Pod's node affinity/selector."),
    /node selector/,
    /match/,
    /labels/,
  ],
  ['a taint', unschedulable('0/1 nodes: 1 node(s) had untolerated taint {a: b}.'), /taint/, /untolerated/, /toleration/],
  [
    'a Pod that cannot start',
    {
      vm: vm('Always'),
      vmi: vmi('Scheduling'),
      pod: launcherPod({ waiting: { reason: 'CreateContainerConfigError', message: 'no secret' } }),
    },
    /Pod of db cannot start/,
    /made 60s ago: CreateContainerConfigError, no secret/,
    /describe pod/,
  ],
  [
    'a launcher that failed',
    { vm: vm('Always'), vmi: vmi('Scheduled'), pod: launcherPod({ terminated: { exitCode: 1, reason: 'Error', message: 'no disk' } }) },
    /QEMU of db did not start/,
    /ended with 1 \(Error\): no disk/,
    /kubectl logs/,
  ],
  [
    'a crash loop',
    { vm: vm('Always', failing), vmi: vmi('Failed'), events: [crashed] },
    /again and again/,
    /3 failures in a row; the next try is in 60s.*Stopped, 60s ago: The guest crashed/s,
    /virtctl restart db retries at once/,
  ],
  [
    'a crash loop whose last instance is gone',
    { vm: vm('Always', failing), pastEvents: [crashed] },
    /again and again/,
    /3 failures.*Stopped, 60s ago: The guest crashed/s,
    /virtctl stop db and then virtctl start db retries at once/,
  ],
  ['a crash loop that takes a start', { vm: vm('RerunOnFailure', failing) }, /again and again/, /3 failures/, /; virtctl start db retries/],
  [
    'an instance of its own that hangs',
    { ...running(condition('Unresponsive', 'True', 'QMPTimeout')), vm: undefined },
    /hangs/,
    /QMP/,
    /delete vmi db/,
  ],
  ['halted', { vm: vm('Halted', { conditions: [LAST_SHUTDOWN] }) }, /stopped, as its run strategy/, /GuestShutdown/, /virtctl start db/],
  ['a missing claim while halted', { vm: vm('Halted'), claims: new Map([['data', undefined]]) }, /stopped/, /Halted/, /virtctl start/],
  ['manual and never started', { vm: vm('Manual') }, /stopped, as its run strategy/, /Manual/, /virtctl start db/],
  [
    'powered off, rerun on failure',
    { vm: vm('RerunOnFailure'), vmi: vmi('Succeeded') },
    /does not start it again/,
    /RerunOnFailure/,
    /start db/,
  ],
  ['run once and ended', { vm: vm('Once'), vmi: vmi('Succeeded') }, /does not start it again/, /Once/, /delete vmi db/],
  [
    'an instance of its own that failed',
    { vmi: vmi('Failed', { reason: 'GuestPanicked' }) },
    /runs only once/,
    /GuestPanicked/,
    /delete vmi db/,
  ],
  [
    'one whose QEMU ended before it answered',
    { vmi: vmi('Failed', { reason: 'LauncherFailed', conditions: [condition('Unresponsive', 'True', 'QMPTimeout')] }) },
    /ended, and an instance runs only once/,
    /LauncherFailed/,
    /delete vmi db/,
  ],
  ['about to be started again', { vm: vm('Always'), vmi: vmi('Succeeded') }, /about to be started/, /Succeeded/, /wait/],
  ['forgotten by its controller', { vm: vm('Always'), events: [crashed] }, /nobody has made an instance/, /Stopped/, /logs --system/],
];

const FINE: readonly Case[] = [
  ['running', running(condition('Ready', 'True', 'Ready')), /db is running/, /running on n1 for 60s, address 10.244.0.2/, /^$/],
  [
    'running, and can be moved',
    running(condition('LiveMigratable', 'True', '')),
    /db is running/,
    /LiveMigratable is True: it can be moved to another node/,
    /^$/,
  ],
  [
    'running, and cannot be moved',
    running(condition('LiveMigratable', 'False', 'DisksNotLiveMigratable', 'PVC c is not shared')),
    /nothing blocks: db is running/,
    /LiveMigratable is False: DisksNotLiveMigratable, PVC c is not shared/,
    /^$/,
  ],
  [
    'being moved',
    moving({ progress: { stage: 'Memory', bytesDone: 1, bytesLeft: 3 * 2 ** 20, bytesPerSecond: 1, lastUpdate: AT } }),
    /db is running/,
    /is being moved from n1 to n2, memory: 3Mi left$/,
    /^$/,
  ],
  [
    'moved in vain, off a node that it has to leave',
    moving({ failed: true, failureReason: 'no room' }, { evacuationNodeName: 'n1' }),
    /db is running/,
    /has to leave node n1.*\nits last move failed: no room$/s,
    /^$/,
  ],
  ['starting', { vm: vm('Always'), vmi: vmi('Scheduled') }, /db is starting/, /phase Scheduled for 60s.*no Pod yet/s, /console db/],
  [
    'asked to start',
    { vm: vm('Manual', { stateChangeRequests: [{ action: 'Start' }] }), vmi: vmi('Pending') },
    /db is starting/,
    /Pending/,
    /console/,
  ],
  [
    'an image that is fetched for the first time',
    { vm: vm('Always'), vmi: vmi('Scheduling'), pod: launcherPod({ waiting: { reason: 'ContainerCreating' } }), events: [pulling] },
    /nothing blocks yet: .*fetches an image/,
    /Pulling image "x", 60s ago/,
    /wait/,
  ],
  [
    'one that is there now',
    { vm: vm('Always'), vmi: vmi('Scheduling'), pod: launcherPod({ waiting: { reason: 'ContainerCreating' } }), events: [pulling, pulled] },
    /nothing blocks yet: db is starting$/,
    /phase/,
    /console/,
  ],
];

for (const [isBlocked, cases] of [
  [true, BLOCKED],
  [false, FINE],
] as const) {
  for (const [state, observed, what, evidence, fix] of cases) {
    test(`${state}: ${what.source}`, () => {
      const answer = decideWhy({ now, name: 'db', claims: new Map(), events: [], nodes: [node()], ...observed });
      assert.match(answer.what, what);
      assert.match(answer.evidence.join('\n'), evidence);
      assert.match(answer.fix ?? '', fix);
      assert.equal(answer.isBlocked, isBlocked);
    });
  }
}
