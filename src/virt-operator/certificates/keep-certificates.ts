/** The certificates of an installation as they are to be now: those that are stored, and new ones in the place of those that are due. */
import { CERTIFICATES } from '../render/options.ts';
import { ANNOTATION_ROTATE, AUTHORITY_SECRET } from './certificate-names.ts';
import { decideCertificates } from './decide-certificates.ts';
import { type IssuedCertificates, issueCertificates } from './issue-certificates.ts';
import { certificatesIn, fingerprintOf, observeCertificates, pairIn, type StoredCertificates } from './observe.ts';

/** And when to look again. */
export async function keepCertificates(
  options: StoredCertificates & { readonly namespace: string },
): Promise<{ certificates: IssuedCertificates; nextAt: number }> {
  const { kubeVirt, namespace, secret, bundle, now } = options;
  const observed = observeCertificates(options);
  const decision = decideCertificates(observed);
  const trusted = certificatesIn(bundle?.data?.[CERTIFICATES.authoritiesKey] ?? '');
  const certificates = await issueCertificates({
    decision,
    namespace,
    lives: observed.lives,
    now,
    rotation: kubeVirt.metadata.annotations?.[ANNOTATION_ROTATE],
    stored: {
      authority: pairIn(secret(AUTHORITY_SECRET)),
      leaf: (name) => pairIn(secret(name)),
      stillTrusted: trusted.filter((pem) => decision.stillTrusted.includes(fingerprintOf(pem))),
    },
  });
  return { certificates, nextAt: decision.nextAt };
}
