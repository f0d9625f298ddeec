import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { forgetRelease, mustNotBeNewer, noteRelease, releaseOfData } from './data-release.ts';

test('a data folder says which release used it, and a newer one is refused', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'release-'));
  t.after(() => rmSync(home, { recursive: true }));
  assert.equal(releaseOfData(home), undefined);
  noteRelease(home, 'v0.2.0');
  assert.equal(releaseOfData(home), 'v0.2.0');
  for (const version of ['v0.2.0', 'v0.3.0', 'unknown']) mustNotBeNewer(releaseOfData(home), { home, version });
  assert.throws(() => mustNotBeNewer(releaseOfData(home), { home, version: 'v0.1.9' }), {
    code: 'DATA_TOO_NEW',
    why: /this is v0\.1\.9/,
    fix: /use v0\.2\.0 or newer.*virtctl restore/,
  });
  forgetRelease(home);
  mustNotBeNewer(releaseOfData(home), { home, version: 'v0.1.9' });
  writeFileSync(join(home, 'release.json'), 'no JSON');
  assert.equal(releaseOfData(home), undefined);
});
