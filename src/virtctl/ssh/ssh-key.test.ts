import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ensureSshKey, readSshKey, sshKeyPath } from './ssh-key.ts';

function homeFor(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'home-'));
  t.after(() => rmSync(dir, { recursive: true }));
  return join(dir, 'not-yet-there');
}

test('the key is made once, for its owner alone', async (t) => {
  const home = homeFor(t);
  assert.equal(await readSshKey(home), undefined);
  const made = await ensureSshKey(home);
  assert.match(made.publicKey, /^ssh-ed25519 [A-Za-z0-9+/]{68} virtctl$/);
  assert.equal(made.privateKeyPath, join(home, 'ssh', 'id_ed25519'));
  assert.deepEqual([await ensureSshKey(home), await readSshKey(home)], [made, made]);
  assert.deepEqual([statSync(made.privateKeyPath).mode & 0o777, statSync(join(home, 'ssh')).mode & 0o777], [0o600, 0o700]);
});

test('whoever asks at the same time gets the same one, and nothing is left beside it', async (t) => {
  const home = homeFor(t);
  const keys = await Promise.all(Array.from({ length: 8 }, () => ensureSshKey(home)));
  assert.equal(new Set(keys.map(({ publicKey }) => publicKey)).size, 1);
  assert.deepEqual(readdirSync(join(home, 'ssh')), ['id_ed25519']);
});

test('a file that is no such key is told and kept', async (t) => {
  const home = homeFor(t);
  mkdirSync(join(home, 'ssh'), { recursive: true });
  writeFileSync(sshKeyPath(home), 'mine');
  await assert.rejects(ensureSshKey(home), { code: 'SSH_KEY_DAMAGED', exitCode: 7 });
  assert.equal(statSync(sshKeyPath(home)).size, 4);
});
