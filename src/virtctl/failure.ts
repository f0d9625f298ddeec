/** Failures as people see them: what happened, why, and what to do; and the exit code for scripts. */

import { ApiError, type StatusReason, UserError } from '../base/errors.ts';
import { escapeUnprintable } from '../base/escape-unprintable.ts';
import { explainSystemError } from '../base/node/system-error.ts';

/** 2 is usage, 3 not found, 4 wrong state, 5 time-out, 6 permission, 7 this host cannot, 8 no server. */
const EXIT_CODES: Partial<Record<StatusReason, number>> = {
  NotFound: 3,
  AlreadyExists: 4,
  Conflict: 4,
  Timeout: 5,
  Forbidden: 6,
  Unauthorized: 6,
  ServiceUnavailable: 8,
};

/** What to do about a refusal of the API. */
const FIXES: Readonly<Record<StatusReason, string>> = {
  NotFound: 'virtctl ls -A lists the machines of all namespaces',
  AlreadyExists: 'choose another name, for a machine with --name, or delete what has this one',
  Conflict: 'virtctl describe NAME and virtctl why NAME say in which state a machine is',
  Forbidden: 'ask whoever administers the cluster for this permission; kubectl auth can-i --list says which you have',
  Unauthorized: 'log in again, or take another user: --kubeconfig FILE, --context NAME',
  Invalid: 'correct the field that is named, and try again',
  BadRequest: 'correct what is named, and try again',
  RequestEntityTooLarge: 'send less at once',
  MethodNotAllowed: 'virtctl version says which releases talk to each other',
  NotAcceptable: 'virtctl version says which releases talk to each other',
  UnsupportedMediaType: 'virtctl version says which releases talk to each other',
  Expired: 'try again',
  Gone: 'try again',
  TooManyRequests: 'try again in a moment',
  Timeout: 'try again; virtctl why NAME says what a machine waits for',
  InternalError: 'try again; virtctl doctor looks at the embedded cluster, and -v 6 shows the requests',
  ServiceUnavailable: 'virtctl up starts the embedded cluster, virtctl doctor looks at it; for another one, check its address',
};

/** Of a machine that is in another state: the first that fits, `NAME` is its name. What is asked for is mostly there already. */
const STATES: readonly (readonly [said: RegExp, fix: string])[] = [
  [/already running/, 'nothing has to be done; virtctl shell NAME enters it, virtctl restart NAME starts it anew'],
  [/^Cannot (?:stop|restart) .* is not running/, 'virtctl describe NAME says in which state it is; virtctl start NAME starts it'],
  [/is not running but \w+\. Cannot exec/, 'virtctl shell NAME -- PROGRAM waits until it runs; virtctl why NAME says for what'],
  [/is not running but \w+/, 'virtctl why NAME says what it waits for; then try again'],
  [/is not running/, 'virtctl start NAME starts it, virtctl why NAME says what it waits for'],
];
const MACHINE = /\bVMI? [a-z0-9-]+\/(?<name>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/;

/** Ends bold and red. */
const PLAIN = '\x1b[39m\x1b[22m';

export function exitCodeOf(error: unknown): number {
  if (error instanceof UserError) return error.exitCode;
  if (error instanceof ApiError) return EXIT_CODES[error.reason] ?? 1;
  return 1;
}

/** The words for people; a message may quote anybody. */
export function renderError(error: unknown, isColoured = false): string {
  return withPlainHelp(escapeUnprintable(errorText(error)), isColoured);
}

/** The library shows all of an error as a warning of fire: what helps is not. */
export function withPlainHelp(text: string, isColoured: boolean): string {
  const [what = '', ...help] = text.split('\n');
  return [isColoured && help.length > 0 ? `${what}${PLAIN}` : what, ...help].join('\n');
}

function errorText(error: unknown): string {
  if (error instanceof UserError) {
    return [`error[${error.code}]: ${error.message}`, error.why && `why: ${error.why}`, error.fix && `fix: ${error.fix}`]
      .filter(Boolean)
      .join('\n');
  }
  const explained = explainSystemError(error);
  if (explained) return errorText(explained);
  if (error instanceof ApiError) return `error[${error.reason}]: ${error.message}\nfix: ${fixOf(error)}`;
  // What the operating system refuses is about what was asked for; where in our code that was helps nobody.
  if (error instanceof Error && 'syscall' in error) return `error[${(error as NodeJS.ErrnoException).code}]: ${error.message}`;
  return `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

function fixOf({ reason, message }: ApiError): string {
  const { name } = MACHINE.exec(message)?.groups ?? {};
  if (reason !== 'Conflict' || name === undefined) return FIXES[reason];
  const [, fix = FIXES.Conflict] = STATES.find(([said]) => said.test(message)) ?? [];
  return fix.replaceAll('NAME', name);
}
