/** Failures on the wire: the Status object that every Kubernetes client knows how to read. */
import { ApiError, messageOf, type StatusDetails } from './errors.ts';

export type StatusObject = {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: string;
  readonly details?: StatusDetails;
  readonly code: number;
};

/** The Status that tells a client about this failure; anything but an ApiError is an internal error. */
function statusObjectOf(error: unknown): StatusObject {
  const { message, reason, details, code } = error instanceof ApiError ? error : new ApiError('InternalError', messageOf(error));
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, ...(details ? { details } : {}), code };
}

/** The same as an HTTP answer. */
export function statusResponse(error: unknown): Response {
  const status = statusObjectOf(error);
  const body = JSON.stringify(status);
  const retryAfter = status.details?.retryAfterSeconds;
  const headers = { 'content-type': 'application/json', ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }) };
  return new Response(body, { status: status.code, headers });
}
