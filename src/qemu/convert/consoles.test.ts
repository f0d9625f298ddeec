import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleArguments } from './consoles.ts';
import { input } from './vmi.testing.ts';

test('a guest without screen and serial console still has its control socket and the agent’s channel, and no window', () => {
  const { spec } = input({ autoattachGraphicsDevice: false, autoattachSerialConsole: false }).vmi;
  assert.deepEqual(consoleArguments(spec), [
    ...['-chardev', 'socket,id=qmp,path=qmp.sock,server=on,wait=off', '-mon', 'chardev=qmp,mode=control'],
    ...['-display', 'none'],
    ...['-chardev', 'socket,id=agent0,path=agent.sock,server=on,wait=off'],
    ...['-device', '{"driver":"virtio-serial-pci","id":"channels"}'],
    ...[
      '-device',
      '{"driver":"virtserialport","id":"agent0","bus":"channels.0","nr":1,"chardev":"agent0","name":"org.qemu.guest_agent.0"}',
    ],
  ]);
});

test('the serial console is logged, and the screen is a unix socket', () => {
  const args = consoleArguments(input().vmi.spec);
  assert.ok(args.includes('socket,id=serial0,path=serial0.sock,server=on,wait=off,logfile=serial0.log,logappend=on'));
  assert.ok(args.includes('unix:vnc.sock,share=force-shared'));
});
