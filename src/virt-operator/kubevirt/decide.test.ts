import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KubeObject, ObjectMeta } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { deriveKubeVirtStatus } from '../status/status.ts';
import { decideInstallation, FINALIZER } from './decide.ts';
import type { InstallationObserved } from './observed.ts';

const installation = { stage: 'ready', version: 'v2', runningVersion: 'v2', architecture: 'amd64', now: 0 } as const;

function kubeVirt(metadata: Partial<ObjectMeta> = {}, spec: KubeVirt['spec'] = {}): KubeVirt {
  const made: KubeVirt = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', namespace: 'kubevirt', generation: 1, finalizers: [FINALIZER], ...metadata },
    spec,
  };
  const stage = metadata.deletionTimestamp ? 'deleting' : 'ready';
  return { ...made, status: deriveKubeVirtStatus(made, { ...installation, stage }) };
}
function object(kind: string, name = 'x', more: Partial<ObjectMeta> = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, ...more } };
}
const base: InstallationObserved = {
  kubeVirt: kubeVirt(),
  isTheOne: true,
  pairings: [],
  stored: [],
  surplus: [],
  isVirtApiWorking: true,
  installation,
  virtualMachines: [],
  markedNodes: [],
  lookAgainAfterMs: 1000,
};

function decided(observed: Partial<InstallationObserved>): string[] {
  return explain(decideInstallation({ ...base, ...observed }));
}
const pairing = (kind: string, isStored: boolean, needsVirtApi = false) => ({
  desired: object(kind),
  isStored,
  isCurrent: false,
  needsVirtApi,
});
const leaving = (spec: KubeVirt['spec'] = {}) => kubeVirt({ deletionTimestamp: '2026-01-01T00:00:00Z' }, spec);

describe('an installation that is to be', () => {
  test('what is as wanted is left alone', () => assert.deepEqual(decided({}), ['look again in 1s']));

  test('the finalizer comes before anything else', () => {
    assert.deepEqual(decided({ kubeVirt: kubeVirt({ finalizers: [] }), pairings: [pairing('Secret', false)] }), [
      'patch KubeVirt kubevirt/kubevirt: its installation is ours',
    ]);
  });

  test('that it is updated is told before anything is replaced', () => {
    const observed = {
      installation: { ...installation, stage: 'updating', version: 'v3' } as const,
      pairings: [pairing('Deployment', true)],
    };
    assert.deepEqual(decided(observed), [
      'patch KubeVirt status kubevirt/kubevirt: the installation is updating',
      'apply Deployment /x: it says something else than is wanted',
      'look again in 1s',
    ]);
  });

  test('a second KubeVirt is not served', () => assert.deepEqual(decided({ isTheOne: false, pairings: [pairing('Secret', false)] }), []));

  test('what is missing or different is put in place, what is surplus is removed', () => {
    const pairings = [pairing('Secret', false), pairing('ClusterRole', true)];
    assert.deepEqual(decided({ pairings, surplus: [object('PodDisruptionBudget')] }), [
      'apply Secret /x: it is missing',
      'apply ClusterRole /x: it says something else than is wanted',
      'delete PodDisruptionBudget /x: it is no longer wanted',
      'look again in 1s',
    ]);
  });

  test('webhooks wait for virt-api at first, and are repaired whatever it does', () => {
    const missing = pairing('APIService', false, true);
    assert.deepEqual(decided({ isVirtApiWorking: false, pairings: [missing] }), ['look again in 1s']);
    assert.equal(decided({ pairings: [missing] }).length, 2);
    assert.equal(decided({ isVirtApiWorking: false, pairings: [{ ...missing, isStored: true }] }).length, 2);
  });

  test('an unsupported cluster gets a status and nothing else', () => {
    const unsupported = { reason: 'UnsupportedKubernetes', message: 'too old' } as const;
    const deploying = { ...installation, stage: 'deploying' } as const;
    assert.deepEqual(decided({ unsupported, installation: deploying, pairings: [pairing('Secret', false)] }), [
      'patch KubeVirt status kubevirt/kubevirt: the installation is deploying',
      'look again in 1s',
    ]);
  });
});

describe('an installation that goes', () => {
  const virtualMachines = [object('VirtualMachine', 'db', { namespace: 'default' })];
  const stored = [object('ClusterRole', 'a'), object('Deployment', 'b'), object('Deployment', 'c')];

  test('machines keep it, and are named', () => {
    const blocked = { kubeVirt: leaving(), virtualMachines, stored };
    assert.deepEqual(decided(blocked), ['patch KubeVirt status kubevirt/kubevirt: the installation is deleting', 'look again in 2s']);
    const [action] = decideInstallation({ ...base, ...blocked }).actions;
    assert.match(JSON.stringify(action), /VirtualMachine default\/db/);
  });

  test('machines go first when they may', () => {
    assert.deepEqual(decided({ kubeVirt: leaving({ uninstallStrategy: 'RemoveWorkloads' }), virtualMachines, stored }), [
      'delete VirtualMachine default/db: the installation goes, and uninstallStrategy is RemoveWorkloads',
      'look again in 2s',
    ]);
  });

  test('then everything, kind after kind, the last one first', () => {
    assert.deepEqual(decided({ kubeVirt: leaving(), stored }), [
      'delete Deployment /b: the installation goes',
      'delete Deployment /c: the installation goes',
      'look again in 2s',
    ]);
  });

  test('one kind waits until the other is gone', () => {
    const going = object('Deployment', 'b', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    assert.deepEqual(decided({ kubeVirt: leaving(), stored: [object('ClusterRole', 'a'), going] }), ['look again in 2s']);
  });

  test('then marks on nodes, then the finalizer', () => {
    const node = object('Node', 'n', { labels: { 'kubevirt.io/schedulable': 'true', a: 'b' } });
    assert.deepEqual(decided({ kubeVirt: leaving(), markedNodes: [node] }), [
      'patch Node /n: no machine runs there any more',
      'look again in 2s',
    ]);
    assert.deepEqual(decided({ kubeVirt: leaving() }), ['patch KubeVirt kubevirt/kubevirt: nothing of its installation is left']);
  });

  test('without our finalizer it is none of our business', () => {
    assert.deepEqual(decided({ kubeVirt: kubeVirt({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [] }), stored }), []);
  });
});
