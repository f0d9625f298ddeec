import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialMount } from './mounts.ts';

test('any name of a Secret becomes the name of a volume', () => {
  const { name, mountPath } = credentialMount(`${'a.'.repeat(120)}b`);
  assert.match(name, /^access-cred-[0-9a-f]{12}$/);
  assert.ok(mountPath.endsWith(`/${name}`));
});
