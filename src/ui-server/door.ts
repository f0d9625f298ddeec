/** How people come into the page, and with whose rights they act. */
import type { DoorDecision, DoorRules, RequestHeaders } from './decide-request.ts';

export type Door = DoorRules & {
  /** The token that the requests of this browser are passed on with; undefined for the rights of our own kubeconfig. */
  tokenOf(headers: RequestHeaders): string | undefined;
  answer(decision: DoorDecision, request: Request): Promise<Response>;
  /** Who is inside, as the cluster calls him, or how it refused to say; nobody where that is not asked. */
  userOf(token: string | undefined): Promise<{ readonly user?: string } | { readonly status: number }>;
  /** The cluster does not know this token any more. */
  refused(token: string): void;
};
