import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CelError, CostExceeded, compileExpression } from './compile.ts';
import { Budget } from './meter.ts';

const EVALUATED: readonly [expression: string, expected: unknown][] = [
  ["'kubevirt'.matches('^k.*t$')", true],
  ["matches('kubevirt', '^v')", false],
  ["'a1b22'.find('[0-9]+')", '1'],
  ["'a1b22'.findAll('[0-9]+')", ['1', '22']],
  ["'a1b22'.findAll('[0-9]+', 1)", ['1']],
  ["'abc'.charAt(1) + 'abc'.reverse()", 'bcba'],
  ["'a-b-c'.replace('-', '+', 1)", 'a+b-c'],
  ['[3, 1, 2].min() + [3, 1, 2].max() + [1, 2].sum()', 7n],
  ['[1, 2, 2].isSorted() && [2, 1].indexOf(1) == 1 && [1, 1].lastIndexOf(1) == 1', true],
  ['sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])', true],
  ["quantity('1Gi').isGreaterThan(quantity('1G'))", true],
  ["quantity('500m').add(quantity('1500m')).asInteger()", 2n],
  ["isQuantity('12 apples')", false],
  ["ip('fe80::1').isLinkLocalUnicast() && ip('10.0.0.1').family() == 4", true],
  ["cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsCIDR('0.0.0.0/0')", true],
  ["string(cidr('2001:db8:0:0:1::7/64').masked())", '2001:db8::/64'],
  ["url('https://example.com:8443/a?b=c').getPort()", '8443'],
  ["url('https://example.com/?b=c').getQuery()['b']", ['c']],
  ['object.?spec.?size.orValue(7)', 7n],
  ["has(object.metadata.name) && object.metadata.name == 'a'", true],
  ['[1, 2, 3].filter(n, n > 1).map(n, n * 2)', [4n, 6n]],
  ['[0, 1].exists(n, 1 / n == 1)', true],
  ['cel.bind(name, object.metadata.name, name + name)', 'aa'],
];
for (const [expression, expected] of EVALUATED) {
  test(`${expression} comes to ${JSON.stringify(expected, (_, each) => (typeof each === 'bigint' ? Number(each) : each))}`, () => {
    const compiled = compileExpression(expression, { variables: { object: 'dyn' } });
    assert.deepEqual(compiled.evaluate({ object: { metadata: { name: 'a' } } }, new Budget()), expected);
  });
}

const REFUSED: readonly [expression: string, why: RegExp][] = [
  ['nobody', /^undeclared reference to 'nobody' \(in container ''\)$/],
  ['1 +', /Unexpected token/],
  ["'a' + 1 == 2", /^no such overload: string \+ int$/],
  ["'1.2.3'.semver()", /^found no matching overload for 'string\.semver\(\)'$/],
  ["1.matches('a')", /./],
  ['size(1) == 1', /^found no matching overload for 'size\(int\)'$/],
  ["'text'", /^must evaluate to a bool$/],
  [`${'('.repeat(200)}true${')'.repeat(200)}`, /^Exceeded maxDepth/],
  [`[${'1,'.repeat(2_000)}1] == []`, /^Exceeded maxListElements/],
  [`${'1+'.repeat(2_400)}1 > 0`, /^the expression is too deep/],
  [`'${'a'.repeat(20_000)}' == ''`, /^an expression of more than 16384 characters$/],
];
for (const [expression, why] of REFUSED) {
  test(`${expression.slice(0, 40)} is not compiled: ${why.source}`, () => {
    assert.throws(
      () => compileExpression(expression, { variables: { self: 'dyn' }, result: 'bool' }),
      (error) => error instanceof CelError && why.test(error.message),
    );
  });
}

const FAILING: readonly [expression: string, why: string][] = [
  ['self.missing == 1', 'no such key: missing'],
  ['1 / self.zero == 1', 'division by zero'],
  ["'a'.matches('(')", 'error parsing regexp: missing closing ): `(`'],
  ["'a'.matches('((((a{10}){10}){10}){10}){10}')", 'error parsing regexp: invalid repeat count: `{10}`'],
];
for (const [expression, why] of FAILING) {
  test(`${expression} fails: ${why}`, () => {
    const compiled = compileExpression(expression, { variables: { self: 'dyn' }, result: 'bool' });
    assert.throws(() => compiled.evaluate({ self: { zero: 0n } }, new Budget()), new CelError(why));
  });
}

/** Each of these would take minutes, or more memory than there is. */
const HOSTILE: readonly string[] = [
  'self.list.all(a, self.list.all(b, a + b >= 0))',
  'self.list.exists(a, self.list.exists(b, a + b < 0))',
  'self.long.all(a, self.long.all(b, a / 0 == b))',
  'self.long.exists(a, a / 0 == 1 || self.long.exists(b, b / 0 == 1 || self.long.exists(c, c / 0 == 1)))',
  `${nested('exists', 9)} || true`,
  'self.list.map(a, self.list.map(b, self.list)).size() > 0',
  'self.long.filter(a, a in self.long).size() > 0',
  `${doubled('self.text', 24)}.size() > 0`,
  `${doubled('self.list', 24)}.size() > 0`,
  'self.list.map(a, self.text).join().size() > 0',
  'self.list.map(a, "").join(self.text).size() > 0',
  'self.text.replace("a", self.text).size() > 0',
  'self.text.matches("(a*)*b")',
  'self.text.matches("((a{10}){10}){9}b")',
  'self.text.findAll("a*b|").size() > 0',
  'self.list.all(a, self.text.contains("b") || true)',
  'sets.contains(self.long, self.long)',
  'int(self.digits) > 0',
  'self.long.all(a, timestamp("2026-01-01T00:00:00Z").getHours("Europe/Berlin") >= 0)',
];

function nested(macro: string, depth: number): string {
  return depth === 0 ? 'self.list[0] > 1' : `self.list.${macro}(v${depth}, ${nested(macro, depth - 1)})`;
}

function doubled(start: string, times: number): string {
  const inner = Array.from({ length: times }, (_, i) => i + 1).reduceRight(
    (rest, i) => `cel.bind(x${i}, x${i - 1} + x${i - 1}, ${rest})`,
    `x${times}`,
  );
  return `cel.bind(x0, ${start}, ${inner})`;
}

const numbers = (length: number) => Array.from({ length }, (_, i) => BigInt(i));
const self = { list: numbers(1_000), long: numbers(100_000), text: 'a'.repeat(1_000_000), digits: '9'.repeat(2_000_000) };
for (const expression of HOSTILE) {
  test(`${expression.slice(0, 70)} ends when its budget is spent`, () => {
    const compiled = compileExpression(expression, { variables: { self: 'dyn' }, result: 'bool' });
    const startedMs = performance.now();
    assert.throws(() => compiled.evaluate({ self }, new Budget()), new CostExceeded('operation cancelled: actual cost limit exceeded'));
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 5_000, `took ${Math.round(tookMs)} ms`); // a fraction of it where nothing else runs
  });
}

test('all expressions of one object have one budget', () => {
  const compiled = compileExpression('self.all(n, n >= 0)', { variables: { self: 'dyn' }, result: 'bool' });
  const budget = new Budget(10_000);
  assert.equal(compiled.evaluate({ self: numbers(1_000) }, budget), true);
  assert.throws(() => compiled.evaluate({ self: numbers(1_000) }, budget), CostExceeded);
  assert.throws(() => compileExpression('true', { variables: {} }).evaluate({}, budget), CostExceeded);
});
