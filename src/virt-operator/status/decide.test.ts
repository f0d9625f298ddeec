import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideKubeVirtStatus } from './decide.ts';
import { deriveKubeVirtStatus, type Installation, type InstallationStage } from './status.ts';

const fresh: KubeVirt = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt', namespace: 'kubevirt', uid: 'kv-1', generation: 2 },
  spec: {},
};
const at = (stage: InstallationStage, now = 0): Installation => ({
  stage,
  version: 'v2',
  runningVersion: 'v2',
  architecture: 'amd64',
  now,
});

test('each stage has its phase and its conditions', () => {
  const summary = (stage: InstallationStage) => {
    const { phase, conditions = [] } = deriveKubeVirtStatus(fresh, at(stage));
    return [phase, ...conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)];
  };
  assert.deepEqual(summary('deploying'), [
    'Deploying',
    'Created=False DeploymentInProgress',
    'Available=False DeploymentInProgress',
    'Progressing=True DeploymentInProgress',
    'Degraded=False DeploymentInProgress',
  ]);
  assert.deepEqual(summary('ready'), [
    'Deployed',
    'Created=True AllResourcesCreated',
    'Available=True AllComponentsReady',
    'Progressing=False AllComponentsReady',
    'Degraded=False AllComponentsReady',
  ]);
  assert.deepEqual(summary('updating'), [
    'Deployed',
    'Created=True AllResourcesCreated',
    'Available=True UpdateInProgress',
    'Progressing=True UpdateInProgress',
    'Degraded=True UpdateInProgress',
  ]);
  assert.deepEqual(summary('deleting'), [
    'Deleting',
    'Created=True AllResourcesCreated',
    'Available=False DeletionInProgress',
    'Progressing=False DeletionInProgress',
    'Degraded=True DeletionInProgress',
  ]);
});

test('versions, generation and architecture are told', () => {
  const { conditions: _, ...rest } = deriveKubeVirtStatus(fresh, at('ready'));
  assert.deepEqual(rest, {
    phase: 'Deployed',
    operatorVersion: 'v2',
    targetKubeVirtVersion: 'v2',
    observedKubeVirtVersion: 'v2',
    observedGeneration: 2,
    defaultArchitecture: 'amd64',
    outdatedVirtualMachineInstanceWorkloads: 0,
  });
});

test('a status that is true is left alone, however late it is looked at', () => {
  const told = { ...fresh, status: deriveKubeVirtStatus(fresh, at('ready')) };
  assert.deepEqual(explain(decideKubeVirtStatus({ kubeVirt: told, installation: at('ready', 60_000) })), []);
});

test('an edit of the configuration is observed', () => {
  const told = { ...fresh, status: deriveKubeVirtStatus(fresh, at('ready')) };
  const edited = { ...told, metadata: { ...told.metadata, generation: 3 } };
  assert.deepEqual(explain(decideKubeVirtStatus({ kubeVirt: edited, installation: at('ready') })), [
    'patch KubeVirt status kubevirt/kubevirt: the installation is ready',
  ]);
});

test('an object that goes is not written to', () => {
  const leaving = { ...fresh, metadata: { ...fresh.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(explain(decideKubeVirtStatus({ kubeVirt: leaving, installation: at('ready') })), []);
});
