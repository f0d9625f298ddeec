import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { missingCommands, readFileSystems, readHostname, readNics, readOsInfo, readTimezone, readUsers, readVersion } from './facts.ts';
import { WELL_BEHAVED } from './fake-agent.testing.ts';
import { readable } from './readable.ts';

/** What no agent that is one would say. */
const NONSENSE: readonly unknown[] = [
  undefined,
  null,
  7,
  'text',
  [],
  {},
  [null],
  [[]],
  { name: {} },
  [{ name: 7, user: [], mountpoint: {} }],
];

describe('what an agent says', () => {
  test('is read', () => {
    assert.deepEqual(readOsInfo(WELL_BEHAVED['guest-get-osinfo']), {
      ...{ name: 'Debian GNU/Linux', kernelRelease: '6.1.0', prettyName: 'Debian 12', id: 'debian' },
    });
    assert.deepEqual(readNics(WELL_BEHAVED['guest-network-get-interfaces']), [
      { interfaceName: 'eth0', mac: '52:54:00:12:34:56', ipAddresses: ['10.0.2.2'] },
    ]);
    assert.deepEqual(missingCommands(readVersion(WELL_BEHAVED['guest-info'])), []);
    assert.deepEqual(readUsers([{ user: 'root', 'login-time': 1700000000.5, domain: 'CORP' }]), [
      { userName: 'root', domain: 'CORP', loginTime: 1700000000.5 },
    ]);
    assert.deepEqual(
      readFileSystems([
        ...[
          { name: 'vda1', mountpoint: '/', type: 'ext4', 'used-bytes': 1, 'total-bytes': 2, disk: [{ serial: 's', 'bus-type': 'virtio' }] },
        ],
      ]),
      [
        ...[
          {
            diskName: 'vda1',
            mountPoint: '/',
            fileSystemType: 'ext4',
            usedBytes: 1,
            totalBytes: 2,
            disk: [{ serial: 's', busType: 'virtio' }],
          },
        ],
      ],
    );
    assert.equal(readTimezone({ zone: 'UTC', offset: 0 }), 'UTC, 0');
    assert.equal(readHostname({ 'host-name': 'db' }), 'db');
  });

  test('is left out where it makes no sense', () => {
    for (const said of NONSENSE) {
      for (const read of [readNics, readUsers, readFileSystems]) assert.deepEqual(read(said), []);
      assert.deepEqual(readOsInfo(said), {});
      assert.equal(readTimezone(said), undefined);
    }
    assert.deepEqual(readNics([{ name: 'eth0\n', 'hardware-address': '52:54:00:12:34:56' }]), []);
    assert.deepEqual(readNics([{ name: 'eth0', 'hardware-address': '<script>' }]), []);
  });

  test('is cut where it is long: the largest answer makes a small status', () => {
    const addresses = Array.from({ length: 100 }, () => ({ 'ip-address': '2001:db8:1234:5678:9abc:def0:1234:5678' }));
    const nics = Array.from({ length: 100_000 }, (_, index) => ({
      name: `eth${index}`,
      'hardware-address': '52:54:00:12:34:56',
      'ip-addresses': addresses,
    }));
    const os = Object.fromEntries(['name', 'id', 'version', 'machine'].map((key) => [key, 'x'.repeat(1_000_000)]));
    assert.ok(JSON.stringify([readNics(nics), readOsInfo(os)]).length < 32 * 1024);
  });

  test('cannot act on a terminal', () => {
    assert.equal(readable('\u001b[31mred\u0007\n\u202eabc\u200b\ud800', 64), '?[31mred???abc??');
    assert.equal(readable('Grüße 🐧', 64), 'Grüße 🐧');
  });
});
