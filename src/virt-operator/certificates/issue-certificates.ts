/** Makes the certificates that were decided on, and gives all of them as objects. */
import type { ConfigMap } from '../../api/core/configmap.ts';
import type { Secret } from '../../api/core/secret.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { KeyPair } from '../../base/node/pki-files.ts';
import { issueAuthority, issueLeaf } from '../../base/node/pki-issue.ts';
import { CERTIFICATES } from '../render/options.ts';
import { ANNOTATION_ROTATE, AUTHORITY_SECRET, LEAVES } from './certificate-names.ts';
import type { CertificatesDecision, Lives } from './decide-certificates.ts';

/** Certificates count from a bit before they were made: clocks of nodes differ. */
export const CLOCK_MARGIN_MS = 3_600_000;

export type IssueOptions = {
  readonly decision: CertificatesDecision;
  readonly namespace: string;
  readonly lives: Lives;
  readonly now: number;
  /** The answered request for a rotation. */
  readonly rotation: string | undefined;
  readonly stored: {
    readonly authority: KeyPair | undefined;
    readonly leaf: (name: string) => KeyPair | undefined;
    /** PEM of the authorities that stay beside the newest. */
    readonly stillTrusted: readonly string[];
  };
};
export type IssuedCertificates = { readonly objects: readonly KubeObject[] /** PEM, the newest first. */; readonly authorities: string };

export async function issueCertificates({ decision, namespace, lives, now, rotation, stored }: IssueOptions): Promise<IssuedCertificates> {
  // Whole seconds, as certificates have them: the time of making is read back from there.
  const validity = (durationMs: number) => ({ notBeforeMs: now - CLOCK_MARGIN_MS, notAfterMs: now + durationMs });
  const authority =
    decision.isNewAuthority || !stored.authority
      ? await issueAuthority({ commonName: `kubevirt-ca-${Math.floor(now / 1000)}` }, validity(lives.authority.durationMs))
      : stored.authority;
  const authorities = [authority.cert, ...stored.stillTrusted].join('');
  const leaves = await Promise.all(
    Object.entries(LEAVES).map(async ([name, request]) => {
      const kept = decision.newLeaves.includes(name) ? undefined : stored.leaf(name);
      return secret({ name, namespace }, kept ?? (await issueLeaf(authority, request, validity(lives.leaf.durationMs))));
    }),
  );
  const annotations: Record<string, string> = rotation === undefined ? {} : { [ANNOTATION_ROTATE]: rotation };
  const bundle: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: CERTIFICATES.authorities, namespace },
    data: { [CERTIFICATES.authoritiesKey]: authorities },
  };
  return { objects: [secret({ name: AUTHORITY_SECRET, namespace, annotations }, authority), bundle, ...leaves], authorities };
}

function secret(metadata: Secret['metadata'], { cert, key }: KeyPair): Secret {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata,
    data: { 'tls.crt': base64(cert), 'tls.key': base64(key) },
  };
}
