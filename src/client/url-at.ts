/** Where a path of the API is at a server that may itself be below a path, as those behind a gateway are: `https://gate/k8s/clusters/c-1`. */
import { ApiError } from '../base/errors.ts';

/** What a parser of URLs takes for a step up or for nothing, however it is written. */
const STEP = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i;
/** A parser of URLs takes these out before it looks. */
const LEFT_OUT = /[\t\n\r]/g;

/** NotFound for a path with `.` or `..` in it: that is what a name becomes which somebody chose to be led elsewhere by it, and no object has it. */
export function urlAt(server: string, path: string): URL {
  const [names = ''] = path.replace(LEFT_OUT, '').split(/[?#]/, 1);
  if (STEP.test(names)) throw new ApiError('NotFound', `there is nothing at ${JSON.stringify(path)}: "." and ".." are no names`);
  const { pathname, search } = new URL(`http://server${path}`);
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${pathname}`;
  url.search = search;
  return url;
}
