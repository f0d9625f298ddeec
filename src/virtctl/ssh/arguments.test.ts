import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGuest, type ScpOptions, scpArguments, sshArguments } from './arguments.ts';

const isFile = (path: string) => path === 'c:a' || path === 'here:x';
const options: ScpOptions = { isFile, program: '/opt/virtctl', namespace: 'default', port: 22, recursive: false, preserve: false };
const PROXY = 'ProxyCommand=/opt/virtctl port-forward --stdio=true';

test('ssh connects through port-forward', () => {
  assert.deepEqual(sshArguments('root@vm/db', options), ['-o', `${PROXY} vm/db/default 22`, 'root@vm.db.default']);
  assert.deepEqual(sshArguments('db', { ...options, username: 'me' }), ['-o', `${PROXY} vmi/db/default 22`, 'me@vmi.db.default']);
});

test('every option is handed on', () => {
  const all = {
    ...options,
    port: 2222,
    identityFile: 'key',
    knownHosts: '/dev/null',
    localSshOpts: ['-v'],
    kubeconfig: "it's 100%",
    context: 'far',
  };
  assert.deepEqual(sshArguments('root@vmi/db/test', all, ['uptime']), [
    ...['-o', `${PROXY} --kubeconfig 'it'\\''s 100%%' --context far vmi/db/test 2222`],
    ...['-o', 'UserKnownHostsFile=/dev/null', '-i', 'key', '-v'],
    ...['root@vmi.db.test', 'uptime'],
  ]);
});

test('our key does not hide those that ssh tries by itself', () => {
  const args = sshArguments('vm/db', { ...options, identityFile: 'ours', triesOwnKeys: true });
  assert.deepEqual(args.slice(2, 6), ['-i', 'ours', '-o', 'IdentityFile=~/.ssh/id_rsa']);
  assert.ok(args.includes('IdentityFile=~/.ssh/id_ed25519'));
});

test('scp copies to a guest and from one', () => {
  assert.deepEqual(scpArguments('a', 'root@vm/db:/tmp/b', options).slice(2), ['a', 'root@vm.db.default:/tmp/b']);
  assert.deepEqual(scpArguments('root@vmi/db/test:b', 'a', { ...options, recursive: true, preserve: true }).slice(2), [
    ...['-r', '-p', 'root@vmi.db.test:b', 'a'],
  ]);
});

test('a local name is never taken for a host or an option', () => {
  assert.deepEqual(scpArguments('c:a', 'vm/db:', options).slice(2), ['./c:a', 'vm.db.default:']);
  assert.deepEqual(scpArguments('-oProxyCommand=x', 'vm/db:', options).slice(2), ['./-oProxyCommand=x', 'vm.db.default:']);
});

test('a name alone is a machine, unless there is such a file here', () => {
  assert.deepEqual(scpArguments('a', 'db:/tmp/b', options).slice(2), ['a', 'vmi.db.default:/tmp/b']);
  assert.deepEqual(scpArguments('me@db:b', './c', options).slice(2), ['me@vmi.db.default:b', './c']);
  assert.deepEqual(scpArguments('here:x', 'db:', options).slice(2), ['./here:x', 'vmi.db.default:']);
  assert.throws(() => scpArguments('./db:x', 'y', options), /one of the two must be on a guest/);
});

test('where the API names the guest its key is not asked for, unless the user says so', () => {
  const args = sshArguments('db', { ...options, trustsApi: true, localSshOpts: ['-o', 'StrictHostKeyChecking=ask'] });
  const checks = args.filter((each) => each.startsWith('StrictHostKeyChecking') || each.startsWith('UserKnownHostsFile'));
  assert.deepEqual(checks, ['StrictHostKeyChecking=ask', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null']);
});

test('scp needs exactly one guest', () => {
  assert.throws(() => scpArguments('a', 'b', options), /one of the two must be on a guest/);
  assert.throws(() => scpArguments('vm/a:x', 'vm/b:x', options), /one of the two must be on a guest/);
});

test('a user cannot be an option', () => {
  for (const text of ['@vm/db', '-oProxyCommand=x@vm/db']) assert.throws(() => parseGuest(text), { code: 'USAGE' });
});
