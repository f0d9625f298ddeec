import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../../base/errors.ts';
import type { Identity } from '../transport/identity.ts';
import { FlowControl, flowOf } from './flow-control.ts';

const LIMITS = {
  request: { ofOne: 2, ofAccounts: 9, ofAll: 3 },
  watch: { ofOne: 1, ofAccounts: 9, ofAll: 9 },
  stream: { ofOne: 1, ofAccounts: 9, ofAll: 9 },
};
const ann: Identity = { user: 'ann', groups: ['system:authenticated'] };
const bob: Identity = { user: 'bob', groups: ['system:authenticated'] };
const isTooMany = (error: unknown) => isApiError(error, 'TooManyRequests') && error.details?.retryAfterSeconds === 1;

test('a user has so many requests under way, and may go on when one is over', () => {
  const flow = new FlowControl(LIMITS);
  const leave = flow.enter(ann, 'request');
  flow.enter(ann, 'request');
  assert.throws(() => flow.enter(ann, 'request'), isTooMany);
  leave?.();
  leave?.(); // saying it twice gives no second place
  flow.enter(ann, 'request');
  assert.throws(() => flow.enter(ann, 'request'), isTooMany);
});

test('one user leaves room for others, and all of them together have a limit', () => {
  const flow = new FlowControl(LIMITS);
  flow.enter(ann, 'request');
  flow.enter(ann, 'request');
  flow.enter(bob, 'request');
  assert.throws(() => flow.enter(bob, 'request'), isTooMany);
});

test('requests, watches and streams are counted apart', () => {
  const flow = new FlowControl(LIMITS);
  for (const kind of ['watch', 'stream'] as const) {
    flow.enter(ann, kind);
    assert.throws(() => flow.enter(ann, kind), isTooMany);
  }
  flow.enter(ann, 'request');
});

test('what lasts as long as its user wants is a stream, and no request', () => {
  const of = (verb: string, subresource?: string) =>
    flowOf({ type: 'resource', verb, group: '', resource: 'pods', subresource, namespace: 'n', name: 'p' });
  assert.deepEqual(
    [
      of('get'),
      of('watch'),
      of('get', 'log'),
      of('create', 'proxy'),
      of('update', 'status'),
      flowOf({ type: 'path', verb: 'get', path: '/logs' }),
    ],
    ['request', 'watch', 'stream', 'stream', 'request', 'request'],
  );
});

for (const identity of [
  { user: 'admin', groups: ['system:masters'] },
  { user: 'system:node:vm', groups: ['system:nodes'] },
  { user: 'system:serviceaccount:kubevirt:kubevirt-handler', groups: ['system:serviceaccounts'] },
]) {
  test(`${identity.user} is never turned away`, () => {
    const flow = new FlowControl(LIMITS);
    for (let count = 0; count < 10; count += 1) flow.enter(identity, 'request');
  });
}

test('a service account of a tenant is an ordinary user, whatever it is called', () => {
  const flow = new FlowControl(LIMITS);
  const account = { user: 'system:serviceaccount:tenant:kubevirt', groups: ['system:serviceaccounts:kubevirt'] };
  flow.enter(account, 'watch');
  assert.throws(() => flow.enter(account, 'watch'), isTooMany);
});

const account = (namespace: string, name: string): Identity => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

for (const kind of ['request', 'watch', 'stream'] as const) {
  test(`the service accounts of a namespace have a fifth of every ${kind} together, and those of all namespaces leave users theirs`, () => {
    const flow = new FlowControl();
    const opened = (identity: Identity): number => {
      for (let count = 0; ; count += 1) {
        try {
          flow.enter(identity, kind);
        } catch (error) {
          assert.ok(isTooMany(error));
          return count;
        }
      }
    };
    const most = opened(ann);
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'e'].map((name) => opened(account('tenant', name))),
      [most, 0, 0, 0, 0],
    );
    for (let count = 0; count < 50; count += 1) opened(account(`tenant-${count}`, 'a'));
    assert.equal(opened(bob), most, 'a user still has all that a user may have');
  });
}

test('what an account leaves another of its namespace may have', () => {
  const flow = new FlowControl(LIMITS);
  const leave = flow.enter(account('tenant', 'a'), 'stream');
  assert.throws(() => flow.enter(account('tenant', 'b'), 'stream'), /the service accounts of namespace "tenant" have 1 under way/);
  flow.enter(account('other', 'b'), 'stream');
  leave?.();
  leave?.();
  flow.enter(account('tenant', 'b'), 'stream');
});
