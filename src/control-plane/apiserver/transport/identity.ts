/** Who makes a request, as authorization and aggregated servers see it. */
export type Identity = {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** Whether what proved it still does: certificates expire, tokens end with their Pod. Absent: it needs no proof. */
  readonly isStillProven?: () => Promise<boolean>;
};

export const ALL_AUTHENTICATED = 'system:authenticated';

/** Whoever shows no credentials. */
export const ANONYMOUS: Identity = { user: 'system:anonymous', groups: ['system:unauthenticated'] };
