import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleArguments } from './consoles.ts';
import { input } from './vmi.testing.ts';

test('a guest without screen and serial console still has its control socket, and no window', () => {
  const { spec } = input({ autoattachGraphicsDevice: false, autoattachSerialConsole: false }).vmi;
  assert.deepEqual(consoleArguments(spec), [
    ...['-chardev', 'socket,id=qmp,path=qmp.sock,server=on,wait=off', '-mon', 'chardev=qmp,mode=control'],
    ...['-display', 'none'],
  ]);
});

test('the serial console is logged, and the screen is a unix socket', () => {
  const args = consoleArguments(input().vmi.spec);
  assert.ok(args.includes('socket,id=serial0,path=serial0.sock,server=on,wait=off,logfile=serial0.log,logappend=on'));
  assert.ok(args.includes('unix:vnc.sock'));
});
