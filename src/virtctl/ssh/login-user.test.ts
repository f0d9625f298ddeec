import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm, vmi } from '../../testing/builders.ts';
import { loginUserOf } from './login-user.ts';

const named = (user: string) => ({ annotations: { 'kubevirt.io/login-user': user } });

test('the instance says who logs in, else its machine', () => {
  assert.equal(loginUserOf({ vm: vm('Always', {}, named('one')), vmi: vmi('Running', {}, named('two')) }), 'two');
  assert.equal(loginUserOf({ vm: vm('Always', {}, named('one')), vmi: vmi('Running') }), 'one');
  assert.equal(loginUserOf({ vmi: vmi('Running') }), undefined);
});

test('what would be an option or a word of a shell is refused', () => {
  for (const user of ['-oProxyCommand=x', 'a b', '$(id)', '', 'a@b', 'x'.repeat(33)])
    assert.throws(() => loginUserOf({ vmi: vmi('Running', {}, named(user)) }), { code: 'LOGIN_USER', exitCode: 4 }, user);
});
