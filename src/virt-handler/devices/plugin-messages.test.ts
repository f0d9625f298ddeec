import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocateResponse, deviceList, framed, registerRequest, unframed } from './plugin-messages.ts';

const KVM = { containerPath: '/dev/kvm', hostPath: '/dev/kvm', permissions: 'mrw' };
const kvmDevice = Buffer.concat([Buffer.from([0x0a, 8]), Buffer.from('/dev/kvm'), Buffer.from([0x12, 8]), Buffer.from('/dev/kvm')]);

test('a registration names its version, socket and resource', () => {
  const expected = ['\x0a\x07v1beta1', '\x12\x05a.sck', '\x1a\x03x/y'].join('');
  assert.equal(registerRequest({ endpoint: 'a.sck', resource: 'x/y' }).toString(), expected);
});

test('each device is healthy', () => {
  assert.equal(deviceList(['a', 'b']).toString(), '\x0a\x0c\x0a\x01a\x12\x07Healthy\x0a\x0c\x0a\x01b\x12\x07Healthy');
});

test('each container that asks gets the device, and nobody who does not', () => {
  const asks = Buffer.from('\x0a\x03\x0a\x01a');
  const device = Buffer.concat([kvmDevice, Buffer.from('\x1a\x03mrw')]);
  const answer = Buffer.concat([Buffer.from([0x0a, device.length + 2, 0x1a, device.length]), device]);
  assert.deepEqual(allocateResponse(asks, KVM), answer);
  assert.deepEqual(allocateResponse(Buffer.concat([asks, asks]), KVM), Buffer.concat([answer, answer]));
  assert.equal(allocateResponse(Buffer.alloc(0), KVM).length, 0);
});

test('a long message has a length of several bytes, and a frame around it', () => {
  const ids = Array.from({ length: 200 }, (_, index) => `device-${index}`);
  const list = deviceList(ids);
  assert.deepEqual(unframed(framed(list)), list);
  assert.deepEqual(unframed(Buffer.alloc(0)), Buffer.alloc(0));
});
