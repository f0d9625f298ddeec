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

test('how many machines run in an older launcher is for virt-controller to say', () => {
  const status = { ...deriveKubeVirtStatus(fresh, at('ready')), outdatedVirtualMachineInstanceWorkloads: 3 };
  assert.equal(deriveKubeVirtStatus({ ...fresh, status }, at('updating')).outdatedVirtualMachineInstanceWorkloads, 3);
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

test('a configuration that contradicts itself is told: the installation works, as before', () => {
  const wrong = { ...fresh, spec: { configuration: { machineType: 'pc' } } };
  const { conditions = [] } = deriveKubeVirtStatus(wrong, at('ready'));
  const told = conditions.find(({ type }) => type === 'Degraded');
  assert.deepEqual([told?.status, told?.reason], ['True', 'InvalidConfiguration']);
  assert.match(told?.message ?? '', /^The last good configuration stays in force: spec\.configuration\.machineType: .*"pc"/);
  assert.equal(conditions.find(({ type }) => type === 'Available')?.status, 'True');
});

test('a patch that is no JSON and a flag that nobody has are told, and nothing else changes', () => {
  const patches = [{ resourceName: 'virt-api', resourceType: 'Deployment', type: 'merge' as const, patch: '{' }];
  const wrong = { ...fresh, spec: { customizeComponents: { patches, flags: { handler: { 'max-devices': '1' } } } } };
  const { conditions = [] } = deriveKubeVirtStatus(wrong, at('ready'));
  const { reason, message = '' } = conditions.find(({ type }) => type === 'Degraded') ?? {};
  assert.equal(reason, 'InvalidConfiguration');
  assert.match(message, /patches\[0\]\.patch: .*must be JSON.*flags\.handler: .*"max-devices": virt-handler has no such flag/);
});

test('a good configuration is kept before anything is told, a bad one is not', () => {
  const good = { ...fresh, spec: { configuration: { cpuModel: 'Penryn' } } };
  assert.deepEqual(explain(decideKubeVirtStatus({ kubeVirt: good, installation: at('ready') })), [
    'patch KubeVirt kubevirt/kubevirt: its configuration is good',
  ]);
  const bad = { ...fresh, spec: { configuration: { machineType: 'pc' } } };
  assert.deepEqual(explain(decideKubeVirtStatus({ kubeVirt: bad, installation: at('ready') })), [
    'patch KubeVirt status kubevirt/kubevirt: the installation is ready',
  ]);
});
