import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine, type ShellLogin, shellSshArguments } from './ssh-arguments.ts';

const login: ShellLogin = {
  ...{ program: '/opt/virtctl', namespace: 'test', port: 22, name: 'db', user: 'root', identityFile: '/key' },
  ...{ isOurKey: true, loggedInFile: "/tmp/it's 1%/in", stdin: false },
};

test('a login shows our key alone, and asks for no key of the host', () => {
  assert.deepEqual(shellSshArguments(login), [
    ...['-o', 'ProxyCommand=/opt/virtctl port-forward --stdio=true vmi/db/test 22'],
    ...['-i', '/key', '-o', 'ConnectTimeout=30', '-o', 'PermitLocalCommand=yes', '-o', "LocalCommand=: > '/tmp/it'\\''s 1%%/in'"],
    ...['-o', 'IdentitiesOnly=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'],
    'root@vmi.db.test',
  ]);
});

test('a program asks nobody anything and has no terminal', () => {
  const command = ['sh', '-c', 'echo "$1"', "it's"];
  const args = shellSshArguments({ ...login, isOurKey: false, command });
  assert.deepEqual(args.slice(-3), ['root@vmi.db.test', '--', commandLine(command)]);
  for (const option of ['-T', 'BatchMode=yes', '-n']) assert.ok(args.includes(option), option);
  assert.ok(!args.includes('IdentitiesOnly=yes'));
  assert.ok(!shellSshArguments({ ...login, command, stdin: true }).includes('-n'));
});

test('every word stays one', () => {
  assert.equal(commandLine(['sh', '-c', 'a b', "it's", '']), "sh -c 'a b' 'it'\\''s' ''");
});
