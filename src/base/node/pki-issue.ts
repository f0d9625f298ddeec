/** Makes certificates. The X.509 packages are loaded only here and only when one is made: a start with all certificates in place does not pay for them. */
import type { KeyPair } from './pki-files.ts';

export type Subject = { readonly commonName: string; readonly organizations?: readonly string[] };
export type CertificateUse = 'server' | 'client';
export type Validity = { readonly notBeforeMs: number; readonly notAfterMs: number };
export type LeafRequest = {
  readonly subject: Subject;
  readonly use: CertificateUse;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
};

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const USE_OID: Readonly<Record<CertificateUse, string>> = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };

/** A new certificate authority that signs leaf certificates only. */
export async function issueAuthority(subject: Subject, validity: Validity): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: nameOf(subject),
    keys,
    signingAlgorithm: KEY_ALGORITHM,
    serialNumber: newSerialNumber(),
    ...datesOf(validity),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: pemOf(certificate), key: await exportKey(keys.privateKey) };
}

/** A new leaf certificate with a new key, signed by `authority`. */
export async function issueLeaf(authority: KeyPair, request: LeafRequest, validity: Validity): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(authority.cert);
  const alternativeNames = [
    ...(request.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(request.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: nameOf(request.subject),
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    signingAlgorithm: KEY_ALGORITHM,
    serialNumber: newSerialNumber(),
    ...datesOf(validity),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([USE_OID[request.use]], false),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(alternativeNames.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternativeNames)] : []),
    ],
  });
  return { cert: pemOf(certificate), key: await exportKey(keys.privateKey) };
}

async function loadX509() {
  await import('reflect-metadata'); // the package below looks for it while it loads
  return import('@peculiar/x509');
}

function newKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

function nameOf({ commonName, organizations = [] }: Subject) {
  return [{ CN: [commonName] }, ...organizations.map((organization) => ({ O: [organization] }))];
}

function datesOf({ notBeforeMs, notAfterMs }: Validity) {
  return { notBefore: new Date(notBeforeMs), notAfter: new Date(notAfterMs) };
}

/** 127 random bits: positive, and of the length that every verifier accepts. */
function newSerialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

function pemOf(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem')}\n`;
}

async function exportKey(key: CryptoKey): Promise<string> {
  const lines = Buffer.from(await crypto.subtle.exportKey('pkcs8', key))
    .toString('base64')
    .match(/.{1,64}/g);
  return `-----BEGIN PRIVATE KEY-----\n${lines?.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

function importKey(pem: string): Promise<CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  return crypto.subtle.importKey('pkcs8', der, KEY_ALGORITHM, false, ['sign']);
}
