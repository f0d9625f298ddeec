import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../base/json.ts';
import { admissionRequestOf } from './admission-request.ts';
import { RULES } from './rules-table.ts';

const HANDLER = 'system:serviceaccount:kubevirt:kubevirt-handler';

type Parts = { readonly metadata?: object; readonly spec?: object; readonly status?: object };

/** An instance that was handed to the virt-handler of node n1. */
function onN1({ metadata, spec, status }: Parts = {}): JsonObject {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'db', namespace: 'default', labels: { 'kubevirt.io/nodeName': 'n1' }, ...metadata },
    spec: { domain: { devices: {} }, ...spec },
    status: { phase: 'Scheduled', nodeName: 'n1', ...status },
  };
}

/** The fields for which a virt-handler is refused; `node` is what Kubernetes tells of its token. */
function refusals({ object, oldObject, node }: { object: JsonObject; oldObject?: JsonObject; node?: string }): string[] {
  const userInfo = { username: HANDLER, ...(node && { extra: { 'authentication.kubernetes.io/node-name': [node] } }) };
  const request = { uid: '1', operation: oldObject ? 'UPDATE' : 'CREATE', userInfo, object, oldObject };
  const causes = RULES.VirtualMachineInstance.validateChange?.(admissionRequestOf({ kind: 'AdmissionReview', request })) ?? [];
  return causes.map(({ field }) => field ?? '');
}

describe('a virt-handler', () => {
  test('a virt-handler writes what it sees of an instance on its node', () => {
    assert.deepEqual(refusals({ oldObject: onN1(), object: onN1({ status: { phase: 'Running', interfaces: [{}] } }), node: 'n1' }), []);
  });

  const label = 'metadata.labels[kubevirt.io/nodeName]';
  for (const [what, change, field] of [
    ['an instance of another node', { oldObject: onN1(), object: onN1({ status: { phase: 'Failed' } }), node: 'n2' }, label],
    ['an instance that was handed to nobody', { oldObject: onN1({ metadata: { labels: {} } }), object: onN1(), node: 'n1' }, label],
    ['a new instance', { object: onN1(), node: 'n1' }, label],
    ['the spec of an instance', { oldObject: onN1(), object: onN1({ spec: { hostname: 'x' } }), node: 'n1' }, 'spec'],
    ['the node of an instance', { oldObject: onN1(), object: onN1({ status: { nodeName: 'n2' } }), node: 'n1' }, 'status.nodeName'],
    [
      'the owner of an instance',
      { oldObject: onN1(), object: onN1({ metadata: { ownerReferences: [{}] } }), node: 'n1' },
      'metadata.ownerReferences',
    ],
    [
      'to whom an instance is handed',
      { oldObject: onN1(), object: onN1({ metadata: { labels: { 'kubevirt.io/nodeName': 'n2' } } }), node: 'n1' },
      'metadata.labels',
    ],
  ] as const)
    test(`a virt-handler does not write ${what}`, () => assert.deepEqual(refusals(change), [field]));

  test('a virt-handler of a Kubernetes that does not tell its node is believed', () => {
    assert.deepEqual(refusals({ oldObject: onN1(), object: onN1({ status: { phase: 'Running' } }) }), []);
  });
});

describe('a move', () => {
  const [from, to] = ['kubevirt.io/nodeName', 'kubevirt.io/migrationTargetNodeName'];
  const way = { migrationUid: 'm1', sourceNode: 'n1', sourcePod: 'a', targetNode: 'n2', targetPod: 'b' };
  const moving = (state: object = {}, { node = 'n1', ...status }: { node?: string; phase?: string } = {}) =>
    onN1({
      metadata: { labels: { [from]: node, [to]: 'n2' } },
      status: { nodeName: node, ...status, migrationState: { ...way, ...state } },
    });

  test('the node that an instance leaves hands it over to the node that it goes to', () => {
    for (const told of [{}, { endTimestamp: '2026-01-01T00:00:00Z', progress: { bytesDone: 1 } }])
      assert.deepEqual(refusals({ oldObject: moving(), object: moving({ completed: true, ...told }, { node: 'n2' }), node: 'n1' }), []);
  });

  for (const [what, object, oldObject = moving()] of [
    ['to another node', moving({ completed: true }, { node: 'n3' })],
    ['with something else', moving({ completed: true }, { node: 'n2', phase: 'Failed' })],
    ['without the word that it is over', moving({}, { node: 'n2' })],
    ['after it was over', moving({ completed: true }, { node: 'n2' }), moving({ failed: true })],
  ] as const)
    test(`and not ${what}`, () => assert.notDeepEqual(refusals({ oldObject, object, node: 'n1' }), []));

  test('where it goes is not for a virt-handler to say', () => {
    assert.deepEqual(refusals({ oldObject: moving(), object: moving({ targetNode: 'n3' }), node: 'n1' }), ['status.migrationState']);
  });

  test('nor what it may take; how far it is, is', () => {
    const greedy = { migrationConfiguration: { bandwidthPerMigration: '0' } };
    assert.deepEqual(refusals({ oldObject: moving(), object: moving(greedy), node: 'n1' }), ['status.migrationState']);
    assert.deepEqual(refusals({ oldObject: moving(), object: moving({ mode: 'Paused', progress: { bytesDone: 1 } }), node: 'n1' }), []);
  });

  test('the node that it comes to says that it is ready, or that it cannot', () => {
    for (const state of [{ targetNodeAddress: '10.0.0.2' }, { failed: true }])
      assert.deepEqual(refusals({ oldObject: moving(), object: moving(state), node: 'n2' }), []);
  });

  test('and neither takes it nor says anything else of it', () => {
    for (const object of [moving({ completed: true }, { node: 'n2' }), moving({ completed: true }), moving({}, { phase: 'Failed' })])
      assert.deepEqual(refusals({ oldObject: moving(), object, node: 'n2' }), ['status']);
  });

  test('a third node says nothing of it', () => {
    assert.deepEqual(refusals({ oldObject: moving(), object: moving({ failed: true }), node: 'n3' }), [`metadata.labels[${from}]`]);
  });
});
