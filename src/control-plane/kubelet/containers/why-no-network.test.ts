import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoNetwork } from './why-no-network.ts';

test('a device that is closed to us, or not there, is named with what opens it', () => {
  assert.deepEqual(
    [
      whyNoNetwork('open("/dev/net/tun"): Permission denied\nchild failed(1)\n'),
      whyNoNetwork('open("/dev/net/tun"): No such file or directory\n'),
      whyNoNetwork('something else\n'),
      whyNoNetwork(''),
    ],
    [
      'open("/dev/net/tun"): Permission denied; child failed(1); fix: chmod 0666 /dev/net/tun, as root',
      'open("/dev/net/tun"): No such file or directory; fix: modprobe tun, as root',
      'something else',
      'it does not say why',
    ],
  );
});
