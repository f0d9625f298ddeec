import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNewerRelease } from './release-version.ts';

const ORDER = ['v0.1.0-rc.2', 'v0.1.0-rc.10', 'v0.1.0', 'v0.1.1', 'v0.2.0-rc.1', 'v0.10.0', 'v1.0.0'];

test('releases are newer by their numbers, and than what led to them', () => {
  const newer = ORDER.map((one) => ORDER.filter((other) => isNewerRelease(one, other)));
  assert.deepEqual(
    newer,
    ORDER.map((_, index) => ORDER.slice(0, index)),
  );
});

test('what is no release is neither newer nor older', () => {
  for (const odd of ['', 'latest', 'v1', 'v1.2', 'v1.2.x']) {
    assert.equal(isNewerRelease(odd, 'v0.1.0'), false, odd);
    assert.equal(isNewerRelease('v0.1.0', odd), false, odd);
  }
});
