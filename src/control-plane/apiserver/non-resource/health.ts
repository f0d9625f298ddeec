/**
 * /healthz, /livez and /readyz, as Kubernetes prints them: whoever may ask for all learns which failed, and only who may ask for one why.
 *
 *   all well                     ok, or a line for each check with `verbose`
 *   one failed                   500 and the lines
 *   `exclude=NAME`               that check is not asked; names that there are not are told
 *   /readyz/NAME                 that check alone: ok, or 500 with the reason
 */
import { unknownPath } from '../response/api-errors.ts';

export type HealthCheck = {
  readonly name: string;
  /** What is wrong, undefined when nothing is. */
  readonly whyNot: () => string | undefined;
  /** Part of /readyz alone: a server that is not ready lives. */
  readonly isOfReadiness?: true;
};

const TEXT = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache, private' };

/** The answer to /healthz, /livez or /readyz, or to one check below it. */
export function answerHealth(all: readonly HealthCheck[], { pathname, searchParams }: URL): Response {
  const [endpoint = '', ...rest] = pathname.split('/').slice(1);
  const checks = all.filter(({ isOfReadiness }) => endpoint === 'readyz' || !isOfReadiness);
  const name = rest.join('/').replace(/\/$/, '');
  if (name === '') return answerAll(endpoint, checks, searchParams);
  const check = checks.find((each) => each.name === name);
  if (!check) throw unknownPath();
  const why = check.whyNot();
  return why === undefined ? text('ok') : text(`internal server error: ${why}\n`, 500);
}

function answerAll(endpoint: string, checks: readonly HealthCheck[], query: URLSearchParams): Response {
  const excluded = new Set(query.getAll('exclude'));
  const lines = checks.map(({ name, whyNot }) => {
    if (excluded.delete(name)) return `[+]${name} excluded: ok`;
    return whyNot() === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
  });
  const hasFailed = lines.some((line) => line.startsWith('[-]'));
  if (excluded.size > 0) {
    const names = [...excluded].sort().map((each) => JSON.stringify(each));
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(', ')}`);
  }
  if (hasFailed) return text(`${lines.join('\n')}\n${endpoint} check failed\n`, 500);
  return text(query.has('verbose') ? `${lines.join('\n')}\n${endpoint} check passed\n` : 'ok');
}

function text(body: string, status = 200): Response {
  return new Response(body, { status, headers: TEXT });
}
