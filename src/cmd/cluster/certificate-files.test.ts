import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import type { KeyPair } from '../../base/node/pki-files.ts';
import { issueAuthority } from '../../base/node/pki-issue.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { quiet, until } from '../../testing/until.ts';
import { followFiles, readPair } from './certificate-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'certificate-files-'));
let pairs: KeyPair[];

before(async () => {
  const validity = { notBeforeMs: 0, notAfterMs: Date.now() + 60_000 };
  pairs = await Promise.all(['a', 'b'].map((commonName) => issueAuthority({ commonName }, validity)));
});
after(() => rmSync(folder, { recursive: true }));

function write({ cert, key }: KeyPair): void {
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
}

test('new files are taken up, and a pair that does not belong together leaves the last in use', async () => {
  const [a, b] = pairs as [KeyPair, KeyPair];
  const clock = new FakeClock();
  const stop = new AbortController();
  const told: KeyPair[] = [];
  write(a);
  const followed = followFiles({
    read: () => readPair(folder),
    onChange: (next) => told.push(next),
    clock,
    log: silentLogger,
    signal: stop.signal,
  });
  write({ cert: b.cert, key: a.key });
  clock.advance(10_000);
  await quiet();
  assert.deepEqual(followed.current, a);
  write(b);
  clock.advance(10_000);
  await until(() => told.length > 0);
  assert.deepEqual([followed.current, told], [b, [b]]);
  stop.abort();
});

test('certificates that are not there are named', () => {
  assert.throws(() => readPair('/nonexistent'), { code: 'CERTIFICATE_UNUSABLE', message: /nonexistent\/tls.crt/ });
});
