import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findLogin, type Login } from './registry-login.ts';

const SECRET = Buffer.from('me:secret').toString('base64');
const own = (host: string, auth = SECRET) => ({ auths: { [host]: { auth } } });

/** The files that are there, and the login that is found for a registry. */
function found(t: TestContext, files: Readonly<Record<string, object | string>>, address: string, more: object = {}): Login | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'logins-'));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  const login = findLogin(address, { XDG_RUNTIME_DIR: join(dir, 'run'), DOCKER_CONFIG: join(dir, 'docker'), ...more });
  return login && { ...login, file: login.file.replace(`${dir}/`, '') };
}

function password(file: string, auth = SECRET): Login {
  return { kind: 'password', authorization: `Basic ${auth}`, file };
}

const PODMAN = 'run/containers/auth.json';
const DOCKER = 'docker/config.json';
const OTHER = Buffer.from('you:other').toString('base64');

test('a login is found where podman and docker keep it, podman first', (t) => {
  const at = 'https://registry.example.com';
  assert.deepEqual(found(t, { [DOCKER]: own('registry.example.com') }, at), password(DOCKER));
  const both = { [PODMAN]: own('registry.example.com', OTHER), [DOCKER]: own('registry.example.com') };
  assert.deepEqual(found(t, both, at), password(PODMAN, OTHER));
  assert.equal(found(t, both, 'https://other.example.com'), undefined);
  assert.equal(found(t, {}, at), undefined);
});

test('whoever names a file means no other', (t) => {
  const files = { [DOCKER]: own('registry.example.com') };
  assert.equal(found(t, files, 'https://registry.example.com', { REGISTRY_AUTH_FILE: '/nowhere/auth.json' }), undefined);
});

test('a port is part of the host', (t) => {
  const files = { [DOCKER]: own('127.0.0.1:5000') };
  assert.deepEqual(found(t, files, 'http://127.0.0.1:5000'), password(DOCKER));
  assert.equal(found(t, files, 'http://127.0.0.1:5001'), undefined);
});

test('docker.io has a key of its own, and two more', (t) => {
  for (const key of ['https://index.docker.io/v1/', 'docker.io', 'index.docker.io'])
    assert.deepEqual(found(t, { [DOCKER]: own(key) }, 'https://registry-1.docker.io'), password(DOCKER));
});

test('a helper is named where there is no password', (t) => {
  const at = 'https://registry.example.com';
  const helper = (name: string): Login => ({ kind: 'helper', helper: name, file: DOCKER });
  assert.deepEqual(found(t, { [DOCKER]: { auths: { 'registry.example.com': {} }, credsStore: 'desktop' } }, at), helper('desktop'));
  const two = { credsStore: 'desktop', credHelpers: { 'registry.example.com': 'cloud' } };
  assert.deepEqual(found(t, { [DOCKER]: two }, at), helper('cloud'));
  assert.deepEqual(found(t, { [PODMAN]: two, [DOCKER]: own('registry.example.com') }, at), password(DOCKER));
});

test('a file that cannot be understood is named, and nothing of it shown', (t) => {
  const at = 'https://registry.example.com';
  const refusedWith = (code: string) => (error: Error & { code?: string; why?: string }) => {
    assert.doesNotMatch([error.message, error.why, String(error.cause)].join(), /secret/);
    return error.code === code;
  };
  assert.throws(() => found(t, { [DOCKER]: '{"auths": secret' }, at), refusedWith('LOGINS_UNREADABLE'));
  assert.throws(() => found(t, { [DOCKER]: '"secret"' }, at), refusedWith('LOGINS_UNREADABLE'));
  const noColon = own('registry.example.com', Buffer.from('secret').toString('base64'));
  assert.throws(() => found(t, { [DOCKER]: noColon }, at), refusedWith('LOGIN_INVALID'));
});
