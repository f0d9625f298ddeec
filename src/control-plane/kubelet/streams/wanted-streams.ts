/** Which streams a query of exec asks for. */
import { ApiError } from '../../../base/errors.ts';
import type { WantedStreams } from './client-streams.ts';

/** BadRequest when that is none. */
export function wantedStreams(query: URLSearchParams): WantedStreams {
  const asks = (name: string) => ['1', 'true', 'True', 'TRUE', 't'].includes(query.get(name) ?? '');
  const wanted = { stdin: asks('stdin'), stdout: asks('stdout'), stderr: asks('stderr'), tty: asks('tty') };
  if (!wanted.stdin && !wanted.stdout && !wanted.stderr)
    throw new ApiError('BadRequest', 'you must specify at least 1 of stdin, stdout, stderr');
  return wanted;
}
