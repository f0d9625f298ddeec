/**
 * Tokens of service accounts: signed by a key of this cluster (ES256), good for some audiences and some time, and only for as long
 * as the service account, and the Pod they are bound to, are there.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomUUID, sign, verify } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { isObject } from '../../../base/json.ts';
import type { Store } from '../../store/store.ts';
import { ALL_AUTHENTICATED, type Identity } from '../transport/identity.ts';
import type { AnyObject } from '../types/resource-type.ts';

/** Who signs, and whom a token is for when it does not say. */
const ISSUER = 'https://kubernetes.default.svc.cluster.local';
/** Where the keys are found by those who want to check tokens themselves. */
const KEYS_PATH = '/openid/v1/jwks';
const EXTRA = 'authentication.kubernetes.io';
/** Checking a signature costs more than everything else in a small request, so the newest good ones are remembered. */
const REMEMBERED = 1_000;

type Named = { readonly name: string; readonly uid: string };
type Claims = {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly nbf: number;
  readonly iat: number;
  readonly jti: string;
  readonly 'kubernetes.io': { readonly namespace: string; readonly serviceaccount: Named; readonly pod?: Named; readonly secret?: Named };
};
export type Wanted = {
  readonly serviceAccount: AnyObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundTo?: { readonly kind: 'pod' | 'secret'; readonly object: AnyObject };
};

/** By how much a clock may be set back; the same as for certificates. */
const CLOCK_MARGIN_S = 2 * 3_600;

export class ServiceAccountTokens {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #private: KeyObject;
  readonly #public: KeyObject;
  readonly #keyId: string;
  /** Claims of tokens whose signature was good. */
  readonly #known = new Map<string, Claims>();

  constructor({ store, clock, signingKey }: { store: Store; clock: Clock; signingKey: string }) {
    this.#store = store;
    this.#clock = clock;
    this.#private = createPrivateKey(signingKey);
    this.#public = createPublicKey(this.#private);
    this.#keyId = createHash('sha256')
      .update(this.#public.export({ type: 'spki', format: 'der' }))
      .digest('base64url');
  }

  /** A new token and the second it ends at. */
  issue({ serviceAccount, audiences, expirationSeconds, boundTo }: Wanted): { token: string; expirationSecond: number } {
    const now = Math.floor(this.#clock.now() / 1000);
    const { namespace = '', name } = serviceAccount.metadata;
    const claims: Claims = {
      iss: ISSUER,
      sub: `system:serviceaccount:${namespace}:${name}`,
      aud: audiences.length > 0 ? audiences : [ISSUER],
      exp: now + expirationSeconds,
      nbf: now - CLOCK_MARGIN_S, // a clock that is set back must not make strangers of all Pods
      iat: now,
      jti: randomUUID(),
      'kubernetes.io': { namespace, serviceaccount: named(serviceAccount), ...(boundTo && { [boundTo.kind]: named(boundTo.object) }) },
    };
    const head = `${encoded({ alg: 'ES256', kid: this.#keyId })}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(head), { key: this.#private, dsaEncoding: 'ieee-p1363' });
    return { token: `${head}.${signature.toString('base64url')}`, expirationSecond: claims.exp };
  }

  /** Whose token it is and for which of the audiences (the API server's own when none is named); undefined when it is good for nothing. */
  review(token: string, audiences: readonly string[] = []): { identity: Identity; audiences: readonly string[] } | undefined {
    const claims = this.#claimsOf(token);
    if (!claims) return undefined;
    const now = this.#clock.now() / 1000;
    const wanted = audiences.length > 0 ? audiences : [ISSUER];
    const matching = wanted.filter((audience) => claims.aud.includes(audience));
    if (claims.iss !== ISSUER || claims.exp <= now || claims.nbf > now || matching.length === 0 || !this.#isAlive(claims)) return undefined;
    return { identity: identityOf(claims), audiences: matching };
  }

  /** The document that tells where the keys are. */
  discovery(): object {
    return {
      issuer: ISSUER,
      jwks_uri: `${ISSUER}${KEYS_PATH}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    };
  }

  /** The public key, as a JSON Web Key Set. */
  keys(): object {
    return { keys: [{ use: 'sig', alg: 'ES256', kid: this.#keyId, ...this.#public.export({ format: 'jwk' }) }] };
  }

  /** What a token says, if we signed it. The algorithm is ours, whatever the token claims. */
  #claimsOf(token: string): Claims | undefined {
    const known = this.#known.get(token);
    if (known) return known;
    const [header = '', payload = '', signature = '', ...rest] = token.split('.');
    if (rest.length > 0 || signature === '') return undefined;
    const { alg, kid } = parsed(header) ?? {};
    if (alg !== 'ES256' || kid !== this.#keyId) return undefined;
    const key = { key: this.#public, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))) return undefined;
    const claims = parsed(payload) as Claims | undefined; // we wrote and signed it
    const oldest = this.#known.keys().next().value;
    if (this.#known.size >= REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    if (claims) this.#known.set(token, claims);
    return claims;
  }

  /** Everything the token is bound to is still there, and is not a later one of the same name. */
  #isAlive({ 'kubernetes.io': { namespace, serviceaccount, pod, secret } }: Claims): boolean {
    const isThere = (plural: string, { name, uid }: Named) => {
      const object = this.#store.get(`core/${plural}/${namespace}/${name}`)?.value as AnyObject | undefined; // every stored value has metadata
      return object?.metadata.uid === uid;
    };
    return isThere('serviceaccounts', serviceaccount) && (!pod || isThere('pods', pod)) && (!secret || isThere('secrets', secret));
  }
}

function identityOf({ sub, jti, 'kubernetes.io': { namespace, serviceaccount, pod } }: Claims): Identity {
  return {
    user: sub,
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, ALL_AUTHENTICATED],
    extra: {
      [`${EXTRA}/credential-id`]: [`JTI=${jti}`],
      ...(pod && { [`${EXTRA}/pod-name`]: [pod.name], [`${EXTRA}/pod-uid`]: [pod.uid] }),
    },
  };
}

function named({ metadata: { name, uid = '' } }: AnyObject): Named {
  return { name, uid };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // not a token at all
  }
}
