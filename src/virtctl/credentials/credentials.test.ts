import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm } from '../../testing/builders.ts';
import { chooseSecrets } from './choose-secrets.ts';
import { addKey, encode, parsePublicKey, removeKey } from './keys.ts';

const ANN = 'ssh-ed25519 AAAAann ann@home';
const BOB = 'ssh-rsa AAAAbob';

test('a key is added once, whatever its comment', () => {
  const added = addKey({}, ANN);
  assert.deepEqual(Object.values(added ?? {}), [encode(`${ANN}\n`)]);
  assert.match(Object.keys(added ?? {})[0] ?? '', /^ssh-key-[0-9a-f]{10}$/);
  assert.equal(addKey({ me: encode(`${BOB}\nssh-ed25519 AAAAann another name\n`) }, ANN), undefined);
});

test('a key goes from every entry, and an entry without keys goes, too', () => {
  const data = { both: encode(`${ANN}\n${BOB}\n`), alone: encode(ANN), other: encode(BOB) };
  assert.deepEqual(removeKey(data, ANN), { both: encode(`${BOB}\n`), alone: null });
  assert.equal(removeKey({ other: encode(BOB) }, ANN), undefined);
});

test('what is no public key is refused, a private one with a word about it', () => {
  assert.equal(parsePublicKey(`${ANN}\n`), ANN);
  for (const wrong of ['', 'hello', `${ANN}\n${BOB}`, 'ssh-ed25519']) assert.throws(() => parsePublicKey(wrong), { code: 'USAGE' });
  assert.throws(() => parsePublicKey('-----BEGIN OPENSSH PRIVATE KEY-----'), { why: /private/ });
});

test('the Secrets are those from which the agent takes what is meant for that user', () => {
  const machine = vm('Always');
  const keys = (secretName: string, users: string[]) => ({
    sshPublicKey: { source: { secret: { secretName } }, propagationMethod: { qemuGuestAgent: { users } } },
  });
  const accessCredentials = [
    { sshPublicKey: { source: { secret: { secretName: 'cloud' } }, propagationMethod: { noCloud: {} } } },
    keys('first', ['ann', 'bob']),
    keys('second', ['ann']),
    { userPassword: { source: { secret: { secretName: 'words' } }, propagationMethod: { qemuGuestAgent: {} } } },
  ];
  const spec = { ...machine.spec, template: { spec: { ...machine.spec.template.spec, accessCredentials } } };
  const choose = (wish: Parameters<typeof chooseSecrets>[1]) => chooseSecrets({ ...machine, spec }, wish);
  assert.deepEqual(choose({ what: 'keys', user: 'ann' }), ['first', 'second']);
  assert.deepEqual(choose({ what: 'keys', user: 'ann', secret: 'second' }), ['second']);
  assert.deepEqual(choose({ what: 'passwords', user: 'anybody' }), ['words']);
  assert.throws(() => choose({ what: 'keys', user: 'carl' }), { code: 'NO_CREDENTIALS', exitCode: 4 });
  assert.throws(() => choose({ what: 'keys', user: 'ann', secret: 'cloud' }), { code: 'NO_CREDENTIALS' });
});
