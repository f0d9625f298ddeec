import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from './errors.ts';
import { matchesLabels, parseFieldSelector, parseLabelSelector, requirementsOf, selectorSize } from './selectors.ts';

const labels = { app: 'db', tier: 'back' };
const CASES: [string, boolean][] = [
  ['app=db', true],
  ['app==db,tier=back', true],
  ['app!=db', false],
  ['missing!=x', true],
  ['app in (web, db)', true],
  ['app notin (web,db)', false],
  ['missing notin (a)', true],
  ['app', true],
  ['!app', false],
  ['!missing,app', true],
  ['', true],
];

for (const [selector, expected] of CASES) {
  test(`${JSON.stringify(selector)} ${expected ? 'matches' : 'does not match'}`, () =>
    assert.equal(matchesLabels(parseLabelSelector(selector), labels), expected));
}

for (const bad of ['a b', 'a in b', '=x', 'app in (a', 'a=b=c']) {
  test(`${JSON.stringify(bad)} is refused`, () => assert.throws(() => parseLabelSelector(bad), ApiError));
}

test('an own property of the prototype is not a label', () => assert.equal(matchesLabels(parseLabelSelector('constructor'), {}), false));

test('the object form means the same as the text form', () => {
  const requirements = requirementsOf({
    matchLabels: { app: 'db' },
    matchExpressions: [{ key: 'tier', operator: 'In', values: ['back'] }],
  });
  assert.deepEqual(requirements, parseLabelSelector('app=db,tier in (back)'));
});

test('field selectors know escapes and negation', () => {
  assert.deepEqual(parseFieldSelector('metadata.name=a\\,b,status.phase!=Failed'), [
    { path: 'metadata.name', isNegated: false, value: 'a,b' },
    { path: 'status.phase', isNegated: true, value: 'Failed' },
  ]);
});

test('a selector has few requirements, of labels as of fields', () => {
  const terms = (count: number, term: string) => Array.from({ length: count }, () => term).join(',');
  assert.equal(parseLabelSelector(terms(256, '!a')).length, 256);
  assert.equal(parseFieldSelector(terms(256, 'a=b')).length, 256);
  assert.throws(() => parseLabelSelector(terms(257, '!a')), { reason: 'BadRequest' });
  assert.throws(() => parseFieldSelector(terms(257, 'a!=b')), { reason: 'BadRequest' });
});

test('the size of a selector in an object is that of its labels, expressions and values', () => {
  const matchExpressions = [{ key: 'a', operator: 'In', values: ['b', 'c'] }, { key: 'd', operator: 'Exists' }, null];
  const sizes = [
    {},
    { a: 'b', c: 'd' },
    { matchLabels: { a: 'b' } },
    { matchLabels: { a: 'b' }, matchExpressions },
    { matchExpressions: [] },
  ].map(selectorSize);
  assert.deepEqual(sizes, [0, 2, 1, 6, 0]);
});
