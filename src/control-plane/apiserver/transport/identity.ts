/** Who makes a request, as authorization and aggregated servers see it. */
export type Identity = {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

export const ALL_AUTHENTICATED = 'system:authenticated';

/** Whoever shows no credentials. */
export const ANONYMOUS: Identity = { user: 'system:anonymous', groups: ['system:unauthenticated'] };
