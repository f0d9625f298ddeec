/**
 * When certificates are made, so that at no moment anybody is shown one that it does not trust yet. The rules:
 *
 *   authority    there is none, it is due, or a rotation is asked for     make one; from then on it is in the bundle, before the old ones
 *   certificate  there is none, it ended, or nobody trusts who signed it  make one at once
 *   certificate  it is due, or signed by another than the newest          make one, as soon as everybody trusts the newest
 *   old authority no certificate of it is in use any more, or it ended    leaves the bundle
 *
 * Everybody trusts an authority, or uses a certificate, when `spreadMs` have passed since it was made: kubelets bring changed files within a
 * minute or two, and components look at them every ten seconds.
 */
export type CertificateFacts = {
  readonly madeAt: number;
  readonly endsAt: number;
  /** Fingerprint of the authority itself, or of the one that signed. */
  readonly authority: string;
};
export type CertificatesObserved = {
  /** The newest: the one whose key we have. */
  readonly authority: CertificateFacts | undefined;
  /** All that are trusted, the newest included when it already is. */
  readonly bundle: readonly CertificateFacts[];
  /** By name of their Secret. */
  readonly leaves: Readonly<Record<string, CertificateFacts | undefined>>;
  readonly isRotationAsked: boolean;
  readonly lives: Lives;
  readonly spreadMs: number;
  readonly now: number;
};
export type Life = { readonly durationMs: number; readonly renewBeforeMs: number };
export type Lives = { readonly authority: Life; readonly leaf: Life };

export type CertificatesDecision = {
  readonly isNewAuthority: boolean;
  /** Secrets whose certificate is made anew. */
  readonly newLeaves: readonly string[];
  /** Fingerprints of authorities that stay in the bundle, beside the newest. */
  readonly stillTrusted: readonly string[];
  /** When to look again. */
  readonly nextAt: number;
};

/** What to make now. */
export function decideCertificates(observed: CertificatesObserved): CertificatesDecision {
  const { authority, bundle, leaves, isRotationAsked, lives, spreadMs, now } = observed;
  const isDue = (facts: CertificateFacts, { renewBeforeMs }: Life) => now >= facts.endsAt - renewBeforeMs;
  const isNewAuthority = !authority || isRotationAsked || isDue(authority, lives.authority);
  const old = bundle.filter((each) => each.endsAt > now && (isNewAuthority || each.authority !== authority.authority));
  const isFirst = old.length === 0;
  const trustedAt = isNewAuthority ? now + spreadMs : authority.madeAt + spreadMs;
  const isTrusted = isFirst || now >= trustedAt;
  const newest = isNewAuthority ? undefined : authority.authority;
  const known = new Set([...old.map((each) => each.authority), newest]);

  const newLeaves = Object.entries(leaves)
    .filter(([, leaf]) => {
      if (!leaf || now >= leaf.endsAt || !known.has(leaf.authority)) return true;
      return isTrusted && (isDue(leaf, lives.leaf) || leaf.authority !== newest);
    })
    .map(([name]) => name);
  const inUse = Object.values(leaves).filter((leaf): leaf is CertificateFacts => leaf !== undefined);
  const allNewSince = Math.max(...inUse.map(({ madeAt }) => madeAt), 0);
  const isAllNew = newLeaves.length === 0 && inUse.every((leaf) => leaf.authority === newest) && now >= allNewSince + spreadMs;
  const stillTrusted = isAllNew ? [] : old.map((each) => each.authority);

  const times = [
    ...inUse.map((leaf) => leaf.endsAt - lives.leaf.renewBeforeMs),
    ...(authority ? [authority.endsAt - lives.authority.renewBeforeMs] : []),
    ...(stillTrusted.length > 0 ? [trustedAt, allNewSince + spreadMs, now + spreadMs] : []),
  ];
  return { isNewAuthority, newLeaves, stillTrusted, nextAt: Math.min(...times.filter((at) => at > now), now + DAY_MS) };
}

const DAY_MS = 86_400_000;
