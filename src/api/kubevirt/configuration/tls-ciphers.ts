/** The ciphers of TLS 1.2 by the names that a KubeVirt object has for them, and by those of OpenSSL. Those of TLS 1.3 are no choice. */

export const TLS_CIPHERS: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
};

/** Without these in its list, Node would speak TLS 1.2 alone. */
const OF_TLS_13 = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256';

/** Our certificates are of elliptic curves. */
export function isOfOurCertificates(cipher: string): boolean {
  return TLS_CIPHERS[cipher]?.includes('-ECDSA-') ?? false;
}

/** As OpenSSL takes them; undefined for its own choice. */
export function cipherListOf(ciphers: readonly string[] = []): string | undefined {
  if (ciphers.length === 0) return undefined;
  return [OF_TLS_13, ...ciphers.flatMap((cipher) => TLS_CIPHERS[cipher] ?? [])].join(':');
}
