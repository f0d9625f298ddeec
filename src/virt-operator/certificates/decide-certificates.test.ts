import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CertificateFacts, type CertificatesDecision, type CertificatesObserved, decideCertificates } from './decide-certificates.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const lives = { authority: { durationMs: 168 * HOUR, renewBeforeMs: 33 * HOUR }, leaf: { durationMs: 24 * HOUR, renewBeforeMs: 5 * HOUR } };
const made = (authority: string, madeAt: number, lifeMs: number): CertificateFacts => ({ authority, madeAt, endsAt: madeAt + lifeMs });
const ca = (name: string, madeAt = 0) => made(name, madeAt, lives.authority.durationMs);
const leaf = (authority: string, madeAt = 0) => made(authority, madeAt, lives.leaf.durationMs);

function decide(observed: Partial<CertificatesObserved>): CertificatesDecision {
  return decideCertificates({
    authority: ca('a'),
    bundle: [ca('a')],
    leaves: { api: leaf('a') },
    isRotationAsked: false,
    lives,
    spreadMs: 3 * MINUTE,
    now: HOUR,
    ...observed,
  });
}
const summary = ({ isNewAuthority, newLeaves, stillTrusted }: CertificatesDecision) => ({ isNewAuthority, newLeaves, stillTrusted });
const nothing = { isNewAuthority: false, newLeaves: [], stillTrusted: [] };

describe('decideCertificates', () => {
  test('at first everything is made', () => {
    const first = decide({ authority: undefined, bundle: [], leaves: { api: undefined } });
    assert.deepEqual(summary(first), { isNewAuthority: true, newLeaves: ['api'], stillTrusted: [] });
  });

  test('what is good is left alone until a certificate is due', () => {
    assert.deepEqual(decide({}), { ...nothing, nextAt: 19 * HOUR });
  });

  test('a certificate that is due is made by the same authority', () => {
    assert.deepEqual(summary(decide({ now: 19 * HOUR })), { ...nothing, newLeaves: ['api'] });
  });

  test('one that is missing, or that nobody trusts, is made at once', () => {
    assert.deepEqual(decide({ leaves: { api: undefined } }).newLeaves, ['api']);
    assert.deepEqual(decide({ leaves: { api: leaf('') } }).newLeaves, ['api']);
  });

  test('a new authority is trusted beside the old one before anybody shows a certificate of it', () => {
    const asked = decide({ isRotationAsked: true });
    assert.deepEqual(summary(asked), { isNewAuthority: true, newLeaves: [], stillTrusted: ['a'] });
    const during = { authority: ca('b', HOUR), bundle: [ca('b', HOUR), ca('a')] };
    assert.deepEqual(summary(decide({ ...during, now: HOUR + MINUTE })), { ...nothing, stillTrusted: ['a'] });
    assert.deepEqual(summary(decide({ ...during, now: HOUR + 3 * MINUTE })), { ...nothing, newLeaves: ['api'], stillTrusted: ['a'] });
  });

  test('a certificate that is due meanwhile waits for that, but not beyond its end', () => {
    const at = 24 * HOUR - 2 * MINUTE;
    const during = { authority: ca('b', at), bundle: [ca('b', at), ca('a')] };
    assert.deepEqual(decide({ ...during, now: at + MINUTE }).newLeaves, []);
    assert.deepEqual(decide({ ...during, now: at + 2 * MINUTE }).newLeaves, ['api']);
  });

  test('the old authority is trusted until nobody shows a certificate of it any more', () => {
    const after = { authority: ca('b'), bundle: [ca('b'), ca('a')], leaves: { api: leaf('b', HOUR) } };
    const waiting = decide({ ...after, now: HOUR + MINUTE });
    assert.deepEqual(waiting, { ...nothing, stillTrusted: ['a'], nextAt: HOUR + 3 * MINUTE });
    assert.deepEqual(summary(decide({ ...after, now: HOUR + 3 * MINUTE })), nothing);
  });

  test('an authority that ended is not trusted, whatever it signed', () => {
    assert.deepEqual(decide({ authority: ca('b', 167 * HOUR), bundle: [ca('a')], now: 169 * HOUR }).stillTrusted, []);
  });

  test('an authority is replaced before its end', () => {
    const leaves = { api: leaf('a', 130 * HOUR) };
    assert.ok(!decide({ leaves, now: 135 * HOUR - 1 }).isNewAuthority);
    assert.ok(decide({ leaves, now: 135 * HOUR }).isNewAuthority);
  });
});
