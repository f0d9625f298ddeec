/** Where a path of the API is at a server that may itself be below a path, as those behind a gateway are: `https://gate/k8s/clusters/c-1`. */

/** What a path says with `..` stays below the server. */
export function urlAt(server: string, path: string): URL {
  const { pathname, search } = new URL(`http://server${path}`);
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${pathname}`;
  url.search = search;
  return url;
}
