import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { UserError } from '../../base/errors.ts';
import { chooseNamespace, judgeUsers, removeWithUsers, type UserFacts } from './subordinate-users.ts';

const MAP = '         0       1000          1\n         1     100000      65535\n';
const FINE: UserFacts = { missingProgram: undefined, tried: { maps: [MAP, MAP] }, isKvmOursAlone: false };

test('users that the system has put aside are taken', () => {
  assert.equal(judgeUsers(FINE), undefined);
  assert.deepEqual(chooseNamespace(undefined, true), ['--user', '--map-root-user', '--map-auto']);
});

for (const [name, facts, why, fix] of [
  ['without newuidmap', { missingProgram: 'newuidmap' }, /newuidmap is not installed/, /uidmap/],
  ['without a line in /etc/subuid', { tried: { error: 'no line for tester' } }, /no line for tester/, /usermod/],
  ['with too few of them', { tried: { maps: [MAP, '0 1000 1\n1 100000 999\n'] } }, /65536/, /usermod/],
  ['where only we have /dev/kvm', { isKvmOursAlone: true }, /kvm/, /chmod 666/],
] as const satisfies readonly (readonly [string, Partial<UserFacts>, RegExp, RegExp])[]) {
  test(`${name} guests are the user, with the reason and a fix`, () => {
    const missing = judgeUsers({ ...FINE, ...facts });
    assert.match(missing?.why ?? '', why);
    assert.match(missing?.fix ?? '', fix);
    assert.deepEqual(chooseNamespace(missing, false), ['--user', '--map-current-user', '--keep-caps']);
  });
}

test('a data folder with files of users that are gone is refused', () => {
  const missing = { why: 'newuidmap is not installed', fix: 'apt-get install uidmap' };
  assert.throws(
    () => chooseNamespace(missing, true),
    (error) => error instanceof UserError && error.code === 'GUEST_USERS_MISSING' && error.fix === missing.fix,
  );
});

test('a folder is removed whole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-removed-'));
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  writeFileSync(join(folder, 'a/b/c'), '');
  removeWithUsers(folder);
  assert.throws(() => mkdirSync(join(folder, 'x')), { code: 'ENOENT' });
});
