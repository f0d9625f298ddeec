import assert from 'node:assert/strict';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { podVolumePath } from '../../api/core/pod-folder-layout.ts';
import type { CredentialSource } from '../../api/kubevirt/access-credentials.ts';
import { credentialMount } from '../../api/launcher/mounts.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { temporaryFolder, waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { AgentSession } from './agent-session.ts';
import { keepCredentials } from './credential-keeper.ts';
import { credentialQuestions } from './credentials.ts';
import { startFakeAgent, wellBehaved } from './fake-agent.testing.ts';
import { readSecretFolder } from './read-secret-folder.ts';

const KEYS: CredentialSource = { secretName: 'keys', way: 'agent-keys', users: ['root', 'me'] };
const PASSWORDS: CredentialSource = { secretName: 'passwords', way: 'agent-passwords' };
const values = (entries: Record<string, string>) => new Map(Object.entries(entries).map(([key, text]) => [key, Buffer.from(text)]));

describe('what an agent is asked to set', () => {
  test('every user gets every key, and a password that is theirs', () => {
    const secrets = new Map([
      ['keys', values({ b: 'ssh-rsa B\n', a: '# mine\nssh-ed25519 A me@here\n\n' })],
      ['passwords', values({ root: 'secret' })],
    ]);
    const keys = ['ssh-ed25519 A me@here', 'ssh-rsa B'];
    assert.deepEqual(
      credentialQuestions([KEYS, PASSWORDS, { secretName: 'keys', way: 'cloud-init', layout: 'noCloud' }], secrets).map(
        (each) => each.arguments,
      ),
      [
        { username: 'me', keys, reset: true },
        { username: 'root', keys, reset: true },
        { username: 'root', password: 'c2VjcmV0', crypted: false },
      ],
    );
  });

  test('a Secret that is not there, and a name that no user has, ask for nothing', () => {
    assert.deepEqual(credentialQuestions([KEYS], new Map()), []);
    const secrets = new Map([['passwords', values({ '-x': 'a', 'a:b': 'a', '../x': 'a' })]]);
    assert.deepEqual(credentialQuestions([PASSWORDS], secrets), []);
  });
});

describe('the Secret of a Pod', () => {
  test('is read as a kubelet lays it out', async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, '..2026'));
    await writeFile(join(folder, '..2026', 'key'), 'value');
    await symlink('..2026', join(folder, '..data'));
    await symlink('..data/key', join(folder, 'key'));
    assert.deepEqual(await readSecretFolder(folder), values({ key: 'value' }));
    assert.equal(await readSecretFolder(join(folder, 'missing')), undefined);
  });

  test('is not a way to files of the host for whoever is QEMU’s user', { skip: process.getuid?.() !== 0 && 'needs root' }, async (t) => {
    const { chown } = await import('node:fs/promises');
    const folder = await temporaryFolder(t);
    await chown(folder, 107, 107);
    await symlink('/etc/hostname', join(folder, 'key'));
    await assert.rejects(readSecretFolder(folder), { code: 'ELOOP' });
    const other = await temporaryFolder(t);
    await writeFile(join(folder, '..file'), 'x');
    await link(join(folder, '..file'), join(other, 'key'));
    await chown(other, 107, 107);
    await assert.rejects(readSecretFolder(other), /not a file of ordinary size/);
  });
});

test('keys are set when the agent comes, when they change, and when the guest may have forgotten them', async (t) => {
  const podFolder = await temporaryFolder(t);
  const folder = join(podFolder, podVolumePath('secret', credentialMount('keys').name));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'key'), 'ssh-ed25519 A');
  const set: unknown[] = [];
  let isWilling = false;
  const fake = await startFakeAgent(t, (command, args) => {
    if (command !== 'guest-ssh-add-authorized-keys') return wellBehaved(command);
    if (!isWilling) return { error: 'failed to write' };
    set.push(args);
    return { return: {} };
  });
  const agent = new AgentSession({ folder: fake.folder, clock: systemClock, log: silentLogger, onChange: () => {} });
  const stop = new AbortController();
  // Sleeps are short here; what is waited for is a change.
  const clock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(20, signal) };
  const sources = [{ ...KEYS, users: ['root'] }];
  const kept = keepCredentials({ agent, sources, podFolder, clock, log: silentLogger }, stop.signal);
  t.after(async () => {
    stop.abort();
    agent.close();
    await kept;
  });
  agent.portIs(true);
  await waitUntil(() => agent.facts.credentials?.isSynced === false, 'it fails');
  assert.match(agent.facts.credentials?.message ?? '', /refused guest-ssh-add-authorized-keys: failed to write/);
  isWilling = true;
  await waitUntil(() => agent.facts.credentials?.isSynced === true, 'it succeeds');
  await writeFile(join(folder, 'key'), 'ssh-ed25519 B');
  await waitUntil(() => set.length === 2, 'the new key is set');
  agent.portIs(false);
  agent.portIs(true);
  await waitUntil(() => set.length === 3, 'it is set again');
  assert.deepEqual(
    set.map((each) => (each as { keys: string[] }).keys),
    [['ssh-ed25519 A'], ['ssh-ed25519 B'], ['ssh-ed25519 B']],
  );
});
