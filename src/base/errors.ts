/** The three kinds of failure the code tells apart: an API status, a dead end in a loop, and a mistake a person can fix. */

/** Kubernetes status reasons with the HTTP code each one travels under. */
export const STATUS_CODES = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

/** The code of an InternalError that a person can mend by making room; Kubernetes has no reason for it. */
export const INSUFFICIENT_STORAGE = 507;

export type StatusReason = keyof typeof STATUS_CODES;

/** One reason why an object was refused; `reason` is FieldValueInvalid, FieldValueRequired, ... */
export type StatusCause = { readonly reason: string; readonly message: string; readonly field: string };

export type StatusDetails = {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
};

/** A failure that is (or becomes) a Kubernetes Status object. */
export class ApiError extends Error {
  readonly reason: StatusReason;
  readonly code: number;
  readonly details: StatusDetails | undefined;

  constructor(reason: StatusReason, message: string, options: { cause?: unknown; details?: StatusDetails; code?: number } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.reason = reason;
    this.code = options.code ?? STATUS_CODES[reason];
    this.details = options.details;
  }
}

/** True for an ApiError with this reason: the way to branch on an API failure. */
export function isApiError(error: unknown, reason: StatusReason): error is ApiError {
  return error instanceof ApiError && error.reason === reason;
}

/** Thrown inside a reconcile loop for what no retry can mend: report it once, wait for the object to change. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** A mistake or a missing thing that a person can fix; command line tools print `what`, `why` and `fix` and leave with `exitCode`. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: string;
  readonly why: string | undefined;
  readonly fix: string | undefined;
  readonly exitCode: number;

  constructor(code: string, what: string, options: { why?: string; fix?: string; exitCode?: number; cause?: unknown } = {}) {
    super(what, { cause: options.cause });
    this.code = code;
    this.why = options.why;
    this.fix = options.fix;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
