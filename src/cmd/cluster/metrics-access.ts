/**
 * Who may read /metrics on a cluster: whoever may `get` this path by the roles of the cluster, as with Kubernetes' own components. The token is shown to
 * the API server, and so is the question; an answer is good for a minute, and only a few are remembered.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

type TokenReview = KubeObject & {
  readonly spec: object;
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: { readonly username?: string; readonly groups?: readonly string[] };
  };
};
type AccessReview = KubeObject & { readonly spec: object; readonly status?: { readonly allowed?: boolean } };

const TOKEN_REVIEWS: Resource<TokenReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  isNamespaced: false,
};
const ACCESS_REVIEWS: Resource<AccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  isNamespaced: false,
};
const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 64;
const LONGEST_TOKEN = 16 * 1024;

export class MetricsAccess {
  readonly #client: Client;
  readonly #clock: Clock;
  /** By the digest of the token: when it was found to be allowed. */
  readonly #allowed = new Map<string, number>();

  constructor({ client, clock }: { client: Client; clock: Clock }) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Throws Unauthorized or Forbidden. */
  async require(authorization: string | null): Promise<void> {
    const token = /^Bearer (\S+)$/i.exec((authorization ?? '').slice(0, LONGEST_TOKEN))?.[1];
    if (token === undefined) throw new ApiError('Unauthorized', 'metrics are shown to whoever brings a token of this cluster');
    const digest = createHash('sha256').update(token).digest('hex');
    const since = this.#allowed.get(digest);
    if (since !== undefined && this.#clock.steady() - since < REMEMBERED_MS) return;
    this.#allowed.delete(digest);
    await this.#ask(token);
    const [oldest] = this.#allowed.keys();
    if (oldest !== undefined && this.#allowed.size >= MOST_REMEMBERED) this.#allowed.delete(oldest);
    this.#allowed.set(digest, this.#clock.steady());
  }

  async #ask(token: string): Promise<void> {
    const { status } = await this.#client.create(TOKEN_REVIEWS, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: { name: '' },
      spec: { token },
    });
    const { username, groups = [] } = status?.user ?? {};
    if (!status?.authenticated || username === undefined) throw new ApiError('Unauthorized', 'the token is none of this cluster');
    const review = await this.#client.create(ACCESS_REVIEWS, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: { name: '' },
      spec: { user: username, groups, nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    });
    if (!review.status?.allowed) throw new ApiError('Forbidden', `forbidden: User "${username}" cannot get path "/metrics"`);
  }
}
