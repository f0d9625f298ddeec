/** Which route of the table a request is for. */
import type { HandlerRoute } from './route.ts';
import { matchRoutePath, type RouteParameters } from './route-path.ts';
import { HANDLER_ROUTES, type RequestName, type StreamName } from './routes.ts';

/** Parameters are those of the path of this route. */
export type FoundRequest = { readonly name: RequestName; readonly parameters: Partial<RouteParameters> };
export type FoundStream = { readonly name: StreamName; readonly parameters: Partial<RouteParameters> };

/** Longer than the longest path of the table with the longest of names in it. */
const MAX_PATH_LENGTH = 512;
const ENTRIES: readonly (readonly [name: string, route: HandlerRoute])[] = Object.entries(HANDLER_ROUTES);

/** The question that is asked with this method at this path; undefined when there is none. */
export function findRequest(method: string, pathname: string): FoundRequest | undefined {
  return find(pathname, (route) => 'method' in route && route.method === method) as FoundRequest | undefined; // it has a method
}

/** The stream at this path; undefined when there is none. */
export function findStream(pathname: string): FoundStream | undefined {
  return find(pathname, (route) => 'stream' in route) as FoundStream | undefined; // it is a stream
}

function find(pathname: string, isWanted: (route: HandlerRoute) => boolean): { name: string; parameters: object } | undefined {
  if (pathname.length > MAX_PATH_LENGTH) return undefined;
  for (const [name, route] of ENTRIES) {
    const parameters = isWanted(route) ? matchRoutePath<string>(route.path, pathname) : undefined;
    if (parameters) return { name, parameters };
  }
  return undefined;
}
