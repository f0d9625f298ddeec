import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideItem, type ObservedItem, type OwnerState } from './decide.ts';

function item(metadata: Partial<ObjectMeta> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'item', uid: 'u', resourceVersion: '7', ...metadata } };
}
const going = (...finalizers: string[]) => item({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers });
const referenceTo = (name: string): OwnerReference => ({ apiVersion: 'v1', kind: 'Pod', name, uid: `uid-${name}` });
const dependent = item({ name: 'dependent', ownerReferences: [{ ...referenceTo('item'), uid: 'u', blockOwnerDeletion: true }] });

/** An object owned by o1, o2, ... whose states are these. */
function ownedBy(...states: OwnerState[]): Partial<ObservedItem> {
  const owners = states.map((state, index) => ({ reference: referenceTo(`o${index + 1}`), state }));
  return { item: item({ ownerReferences: owners.map(({ reference }) => reference) }), owners };
}

const DELETE = 'delete ConfigMap ns/item';
const PATCH = 'patch ConfigMap ns/item';

const cases: [string, Partial<ObservedItem>, string[]][] = [
  ['what is owned by nobody stays', {}, []],
  ['what is owned by somebody stays', ownedBy('there'), []],
  ['what all owners left goes', ownedBy('gone', 'gone'), [`${DELETE}: owner Pod o1 is gone`]],
  ['an owner in another namespace does not count', ownedBy('misplaced'), [`${DELETE}: owner Pod o1 is misplaced`]],
  [
    'one living owner keeps a dependent; the dead are forgotten',
    ownedBy('there', 'gone', 'leaving'),
    [`${PATCH}: not owned by Pod o2, Pod o3 any more`],
  ],
  ['an owner that cannot be looked up keeps its dependent', ownedBy('gone', 'unknown'), ['look again in 30s']],
  ['a dependent goes when its owner waits for it', ownedBy('leaving'), [`${DELETE}: owner Pod o1 is leaving`]],
  ['what is going already is left alone', { ...ownedBy('gone'), item: going('mine') }, []],
  [
    'a foreground deletion waits for blocking dependents',
    { item: going('foregroundDeletion'), dependents: [dependent], blocking: [dependent] },
    [],
  ],
  [
    'a foreground deletion does not wait for the others',
    { item: going('foregroundDeletion'), dependents: [dependent] },
    [`${PATCH}: no dependent holds it up`],
  ],
  [
    'an orphaning deletion releases all dependents first',
    { item: going('orphan'), dependents: [dependent], blocking: [dependent] },
    ['patch ConfigMap ns/dependent: ConfigMap item is deleted without what it owns', `${PATCH}: all dependents are released`],
  ],
];

describe('decideItem', () => {
  for (const [name, observed, expected] of cases) {
    test(name, () =>
      assert.deepEqual(explain(decideItem({ item: item(), owners: [], dependents: [], blocking: [], ...observed })), expected),
    );
  }
});

function onlyAction(observed: Partial<ObservedItem>) {
  const { actions } = decideItem({ item: item(), owners: [], dependents: [], blocking: [], ...observed });
  assert.equal(actions.length, 1);
  return actions[0]!;
}

test('a deletion is in the background, of this very object as it was seen', () => {
  assert.deepEqual(onlyAction(ownedBy('gone')), {
    do: 'delete',
    target: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'item', uid: 'u' },
    resourceVersion: '7',
    propagationPolicy: 'Background',
    because: 'owner Pod o1 is gone',
    event: undefined,
  });
});

test('a tree below a waiting owner goes in the foreground', () => {
  const action = onlyAction({ ...ownedBy('leaving'), dependents: [dependent] });
  assert.equal(action.do === 'delete' && action.propagationPolicy, 'Foreground');
});

test('an orphan finalizer set beforehand is respected', () => {
  const { owners } = ownedBy('gone');
  const action = onlyAction({ item: item({ finalizers: ['orphan'] }), owners });
  assert.equal(action.do === 'delete' && action.propagationPolicy, 'Orphan');
});

test('an owner across namespaces is told of', () => {
  assert.deepEqual(onlyAction(ownedBy('misplaced')).event, {
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: 'ownerRef Pod o1 (uid uid-o1) does not exist in namespace "ns"',
  });
});

test('only the lost owners are taken out, only the own finalizer is dropped', () => {
  const lost = onlyAction(ownedBy('there', 'gone'));
  assert.deepEqual(lost.do === 'patch' && lost.patch, { metadata: { ownerReferences: [referenceTo('o1')] } });
  const released = onlyAction({ item: going('foregroundDeletion', 'mine') });
  assert.deepEqual(released.do === 'patch' && released.patch, { metadata: { finalizers: ['mine'] } });
});
