import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../base/node/find-program.ts';
import { formatPrivateKey, formatPublicKey, publicKeyIn } from './openssh-key.ts';

// The first example of RFC 8032, section 7.1.
const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const publicKey = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
const key = { seed, publicKey, comment: 'me@here' };

test('the public key is a line of authorized_keys', () => {
  assert.equal(formatPublicKey(key), 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea me@here');
});

test('the public key is found in the private one, whatever its comment fills up', () => {
  for (const comment of ['', 'a', 'a longer one'])
    assert.deepEqual(Buffer.from(publicKeyIn(formatPrivateKey({ ...key, comment }, 7)) ?? []), publicKey);
});

test('what is not such a key has none', () => {
  const whole = formatPrivateKey(key, 7);
  const lines = whole.split('\n');
  const damaged = [
    ...['', 'ssh-ed25519 AAAA', '-----BEGIN OPENSSH PRIVATE KEY-----', whole.replaceAll('OPENSSH', 'RSA')],
    [lines[0], lines[1]?.slice(0, 40), ...lines.slice(-2)].join('\n'),
    whole.replace('b3Bl', 'AAAA'),
    `${whole}${' '.repeat(20_000)}`,
  ];
  assert.deepEqual(
    damaged.map((text) => publicKeyIn(text)),
    damaged.map(() => undefined),
  );
});

test('ssh-keygen reads it back', { skip: !findProgram('ssh-keygen', process.env['PATH']) && 'no ssh-keygen here' }, (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'key-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'id');
  for (const comment of ['me@here', 'x', '12345678']) {
    writeFileSync(path, formatPrivateKey({ ...key, comment }, 0xffff_ffff), { mode: 0o600 });
    assert.equal(execFileSync('ssh-keygen', ['-y', '-f', path], { encoding: 'utf8' }).trim(), formatPublicKey({ ...key, comment }));
  }
  // What the private half signs, the public half knows.
  const signature = execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'test', '-f', path], { input: 'text' });
  writeFileSync(join(dir, 'text.sig'), signature);
  const check = ['-Y', 'check-novalidate', '-n', 'test', '-s', join(dir, 'text.sig')];
  assert.match(execFileSync('ssh-keygen', check, { input: 'text', encoding: 'utf8' }), /^Good "test" signature/);
});
