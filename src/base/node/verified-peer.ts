/** Who is at the other end of a TLS connection, by a certificate that was verified. */
import type { TLSSocket } from 'node:tls';

export type Peer = {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** When the certificate expires. */
  readonly validUntilMs: number;
};

/** What TLS itself calls it. */
export const EXPIRED = 'CERT_HAS_EXPIRED';

/** Why the certificate that a client shows is not believed: `CERT_HAS_EXPIRED`; undefined when it is, or when there is none. */
export function refusedCertificate(socket: TLSSocket): string | undefined {
  if (socket.authorized || Object.keys(socket.getPeerCertificate() ?? {}).length === 0) return undefined;
  return String(socket.authorizationError);
}

/** The owner of the client certificate; undefined without one, or with one that our authorities did not sign. */
export function verifiedPeer(socket: TLSSocket): Peer | undefined {
  // A resumed session without any certificate also counts as authorized, so the certificate itself must be there.
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerCertificate();
  const subject = certificate?.subject as Record<string, string | string[] | undefined> | undefined;
  const commonName = subject?.['CN'];
  if (typeof commonName !== 'string' || commonName === '') return undefined;
  return { commonName, organizations: [subject?.['O'] ?? []].flat(), validUntilMs: Date.parse(certificate.valid_to) };
}
