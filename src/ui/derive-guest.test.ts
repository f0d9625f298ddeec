import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GuestAgentInfo } from '../api/handler/answers.ts';
import { deriveFileSystems, deriveGuestFacts } from './derive-guest.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202e\u001b[2J\nnext';
const SHOWN = '<img src=x onerror=alert(1)>\\u202e\\u001b[2J\\u000anext';
const disk = { diskName: 'vda', mountPoint: HOSTILE, fileSystemType: 'ext4', usedBytes: 1, totalBytes: 2 };
const info = {
  guestAgentVersion: '1',
  hostname: HOSTILE,
  os: { prettyName: HOSTILE, kernelRelease: HOSTILE },
  timezone: HOSTILE,
  userList: Array.from({ length: 1000 }, () => ({ userName: HOSTILE })),
  fsInfo: { disks: Array.from({ length: 1000 }, () => disk) },
} as unknown as GuestAgentInfo; // a guest may leave out anything

test('what a guest says of itself is text in one line, however hostile and long', () => {
  const facts = deriveGuestFacts(info);
  assert.deepEqual(
    facts.map(({ label }) => label),
    ['Host name', 'System', 'Kernel', 'Time zone', 'Users'],
  );
  for (const { label, value } of facts) assert.equal(value, label === 'Users' ? Array(20).fill(SHOWN).join(', ') : SHOWN);
  const systems = deriveFileSystems(info);
  assert.deepEqual([systems.length, systems[0]], [20, { place: SHOWN, usedBytes: 1, totalBytes: 2 }]);
});
