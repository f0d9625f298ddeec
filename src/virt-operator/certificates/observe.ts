/** The certificates that are stored, as facts to decide on. */
import { X509Certificate } from 'node:crypto';
import type { ConfigMap } from '../../api/core/configmap.ts';
import type { Secret } from '../../api/core/secret.ts';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { parseGoDuration } from '../../base/go-duration.ts';
import type { KeyPair } from '../../base/node/pki-files.ts';
import { CERTIFICATES } from '../render/options.ts';
import { ANNOTATION_ROTATE, AUTHORITY_SECRET, LEAVES } from './certificate-names.ts';
import type { CertificateFacts, CertificatesObserved, Life, Lives } from './decide-certificates.ts';
import { CLOCK_MARGIN_MS } from './issue-certificates.ts';

const HOUR_MS = 3_600_000;
const AUTHORITY_LIFE: Life = { durationMs: 168 * HOUR_MS, renewBeforeMs: 33 * HOUR_MS };
const LEAF_LIFE: Life = { durationMs: 24 * HOUR_MS, renewBeforeMs: 5 * HOUR_MS };

export type StoredCertificates = {
  readonly kubeVirt: KubeVirt;
  readonly secret: (name: string) => Secret | undefined;
  readonly bundle: ConfigMap | undefined;
  readonly spreadMs: number;
  readonly now: number;
};

/** PEM, one text for each. */
export function certificatesIn(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
}

export function pairIn(secret: Secret | undefined): KeyPair | undefined {
  const text = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
  const pair = { cert: text('tls.crt'), key: text('tls.key') };
  return pair.cert && pair.key && factsOf(pair.cert) ? pair : undefined;
}

/** What a certificate stands for in the bundle. */
export function fingerprintOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}

export function observeCertificates({ kubeVirt, secret, bundle, spreadMs, now }: StoredCertificates): CertificatesObserved {
  const authoritySecret = secret(AUTHORITY_SECRET);
  const authority = pairIn(authoritySecret)?.cert;
  const trusted = certificatesIn(bundle?.data?.[CERTIFICATES.authoritiesKey] ?? '').filter((pem) => factsOf(pem) !== undefined);
  const authorities = [...(authority ? [authority] : []), ...trusted];
  const leafFacts = (name: string): CertificateFacts | undefined => {
    const pem = pairIn(secret(name))?.cert;
    const facts = pem && factsOf(pem);
    if (!facts) return undefined;
    const signer = authorities.find((each) => new X509Certificate(pem).verify(new X509Certificate(each).publicKey));
    return { ...facts, authority: signer ? fingerprintOf(signer) : '' };
  };
  const asked = kubeVirt.metadata.annotations?.[ANNOTATION_ROTATE];
  return {
    authority: authority ? factsOf(authority) : undefined,
    bundle: trusted.flatMap((pem) => factsOf(pem) ?? []),
    leaves: Object.fromEntries(Object.keys(LEAVES).map((name) => [name, leafFacts(name)])),
    isRotationAsked: asked !== undefined && asked !== authoritySecret?.metadata.annotations?.[ANNOTATION_ROTATE],
    lives: livesOf(kubeVirt),
    spreadMs,
    now,
  };
}

function factsOf(pem: string): CertificateFacts | undefined {
  try {
    const certificate = new X509Certificate(pem);
    return {
      madeAt: Date.parse(certificate.validFrom) + CLOCK_MARGIN_MS,
      endsAt: Date.parse(certificate.validTo),
      authority: certificate.fingerprint256,
    };
  } catch {
    return undefined; // not a certificate: as if it were not there
  }
}

function livesOf({ spec }: KubeVirt): Lives {
  const { ca, server, caRotateInterval, caOverlapInterval, certRotateInterval } = spec.certificateRotateStrategy?.selfSigned ?? {};
  const older = { ...(caRotateInterval && { duration: caRotateInterval }), ...(caOverlapInterval && { renewBefore: caOverlapInterval }) };
  return {
    authority: lifeOf({ ...older, ...ca }, AUTHORITY_LIFE),
    leaf: lifeOf({ ...(certRotateInterval && { duration: certRotateInterval }), ...server }, LEAF_LIFE),
  };
}

/** What is not a duration counts as not given, and nothing is renewed before a half of its life is over. */
function lifeOf(given: { duration?: string; renewBefore?: string } | undefined, otherwise: Life): Life {
  const durationMs = parseGoDuration(given?.duration ?? '') || otherwise.durationMs;
  const renewBeforeMs = parseGoDuration(given?.renewBefore ?? '') ?? Math.min(otherwise.renewBeforeMs, durationMs / 5);
  return { durationMs, renewBeforeMs: Math.min(renewBeforeMs, durationMs / 2) };
}
