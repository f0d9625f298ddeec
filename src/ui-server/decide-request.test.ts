import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideRequest, type UiDecision, type UiRequest } from './decide-request.ts';
import { linkDoor } from './link-door.ts';
import { SESSION_COOKIE, tokenDoor } from './token-door.ts';

const door = linkDoor(8080, { cookieName: 'kubevirt-ts-ours', enter: () => undefined, has: (cookie) => cookie === 'good' });
const host = '127.0.0.1:8080';
const cookie = 'other=1; kubevirt-ts-ours=good';
const origin = `http://${host}`;
const VMS = '/apis/kubevirt.io/v1/virtualmachines';

function decide(request: Partial<UiRequest>, headers: UiRequest['headers'] = { host, cookie }): UiDecision {
  return decideRequest({ method: 'GET', url: '/', isUpgrade: false, ...request, headers }, door);
}

const TAKEN: readonly [string, Partial<UiRequest>, UiRequest['headers'], UiDecision][] = [
  ['the page', {}, { host, cookie }, { kind: 'page', path: '/' }],
  ['a place in the page', { url: '/ns/a/vm/b?x=1' }, { host: 'localhost:8080', cookie }, { kind: 'page', path: '/ns/a/vm/b' }],
  ['a link', { url: '/enter?token=abc' }, { host }, { kind: 'enter', token: 'abc' }],
  ['a list', { url: VMS }, { host, cookie }, { kind: 'api', path: VMS }],
  ['a change', { url: VMS, method: 'POST' }, { host, cookie, origin }, { kind: 'api', path: VMS }],
  ['a watch', { url: `${VMS}?watch=true`, isUpgrade: true }, { host, cookie, origin }, { kind: 'watch', path: `${VMS}?watch=true` }],
  ['a console', { url: '/apis/x/console', isUpgrade: true }, { host, cookie, origin }, { kind: 'tunnel', path: '/apis/x/console' }],
];
for (const [what, request, headers, expected] of TAKEN)
  test(`${what} is taken`, () => assert.deepEqual(decide(request, headers), expected));

const REFUSED: readonly [string, Partial<UiRequest>, UiRequest['headers'], number][] = [
  ['another host, which points here', {}, { host: 'evil.example:8080', cookie }, 421],
  ['another port', {}, { host: '127.0.0.1:8081', cookie }, 421],
  ['no host', {}, { cookie }, 421],
  ['no session', { url: VMS }, { host }, 401],
  ['the session of another server', { url: VMS }, { host, cookie: 'kubevirt-ts-theirs=good' }, 401],
  ['a session that is not known', {}, { host, cookie: 'kubevirt-ts-ours=bad' }, 401],
  ['a change without an origin', { url: VMS, method: 'POST' }, { host, cookie }, 403],
  ['a change from another site', { url: VMS, method: 'DELETE' }, { host, cookie, origin: 'http://evil.example' }, 403],
  ['a change from another port', { url: VMS, method: 'POST' }, { host, cookie, origin: 'http://127.0.0.1:9' }, 403],
  ['a WebSocket from another site', { url: '/apis/x/console', isUpgrade: true }, { host, cookie, origin: 'http://evil.example' }, 403],
  ['a WebSocket without an origin', { url: '/apis/x/console', isUpgrade: true }, { host, cookie }, 403],
  ['a page of a Service', { url: '/api/v1/namespaces/a/services/b/proxy/' }, { host, cookie }, 403],
  ['the same, written otherwise', { url: '/api/v1/namespaces/a/services/b/%70roxy' }, { host, cookie }, 403],
  ['an answer as a document', { url: VMS }, { host, cookie, 'sec-fetch-dest': 'document' }, 403],
  ['a WebSocket to the page', { isUpgrade: true }, { host, cookie, origin }, 404],
  ['a change of the page', { method: 'POST' }, { host, cookie, origin }, 404],
];
for (const [what, request, headers, status] of REFUSED) {
  test(`${what} is refused with ${status}`, () => {
    const decision = decide(request, headers);
    assert.equal(decision.kind === 'refuse' && decision.status, status);
  });
}

const sessions = { open: () => undefined, tokenOf: (name: string) => (name === 'good' ? 't' : undefined), close() {}, drop() {} };
const forMany = (hosts: readonly string[] = []) => tokenDoor({ sessions, hosts, ask: () => assert.fail('nobody is asked') });
const many = { host: 'machines.example', cookie: `${SESSION_COOKIE}=good`, origin: 'https://machines.example' };
const { cookie: _, ...outside } = many;

const FOR_MANY: readonly [string, Partial<UiRequest>, UiRequest['headers'], UiDecision | number][] = [
  ['the page', {}, many, { kind: 'page', path: '/' }],
  ['a list', { url: VMS }, many, { kind: 'api', path: VMS }],
  ['a list through a proxy that signs people in', { url: VMS }, { ...outside, authorization: 'Bearer t' }, { kind: 'api', path: VMS }],
  ['the page of who is not signed in', { url: '/ns/a/vm/b' }, outside, { kind: 'sign-in-page' }],
  ['the form', { url: '/sign-in', method: 'POST' }, outside, { kind: 'sign-in' }],
  ['the end', { url: '/sign-out', method: 'POST' }, many, { kind: 'sign-out' }],
  ['a link of the other door', { url: '/enter?token=abc' }, outside, { kind: 'sign-in-page' }],
  ['a list of who is not signed in', { url: VMS }, outside, 401],
  ['the question who is signed in, of who is not', { url: '/session.json' }, outside, 401],
  ['a console of who is not signed in', { url: '/apis/x/console', isUpgrade: true }, outside, 401],
  ['an empty token', { url: VMS }, { ...outside, authorization: 'Bearer ' }, 401],
  ['a password', { url: VMS }, { ...outside, authorization: 'Basic dDp0' }, 401],
  ['a form of another site', { url: '/sign-in', method: 'POST' }, { ...outside, origin: 'https://evil.example' }, 403],
  ['a form whose site is not said', { url: '/sign-in', method: 'POST' }, { host: many.host }, 403],
  ['a form that was not sent over TLS', { url: '/sign-in', method: 'POST' }, { ...outside, origin: 'http://machines.example' }, 403],
  ['a change from another site', { url: VMS, method: 'POST' }, { ...many, origin: 'https://evil.example' }, 403],
  ['a console from another site', { url: '/apis/x/console', isUpgrade: true }, { ...many, origin: 'https://evil.example' }, 403],
  ['a link to the end, on another site', { url: '/sign-out' }, many, { kind: 'page', path: '/sign-out' }],
];
for (const [what, request, headers, expected] of FOR_MANY) {
  test(`for many: ${what} is ${typeof expected === 'number' ? `refused with ${expected}` : expected.kind}`, () => {
    const decision = decideRequest({ method: 'GET', url: '/', isUpgrade: false, ...request, headers }, forMany());
    if (typeof expected === 'number') assert.equal(decision.kind === 'refuse' && decision.status, expected);
    else assert.deepEqual(decision, expected);
  });
}

test('for many: a host that was not named is refused where hosts are', () => {
  const decision = decideRequest({ method: 'GET', url: '/', isUpgrade: false, headers: many }, forMany(['elsewhere.example']));
  assert.equal(decision.kind === 'refuse' && decision.status, 421);
});
