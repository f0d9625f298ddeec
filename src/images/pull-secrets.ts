/** Logins from the Secrets that a Pod names for its images: `kubernetes.io/dockerconfigjson` and the older `kubernetes.io/dockercfg`. Pure. */
import { isObject } from '../base/json.ts';
import { type Login, loginHost } from './registry-login.ts';

/** The part of a Secret that is looked at. */
export type PullSecret = {
  readonly type?: string | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly metadata: { readonly name: string };
};

const MAX_BYTES = 2 ** 20;

/** Those that fit, the longest path first; what cannot be read is left out, as a Pod may have other Secrets that can. */
export function loginsInSecrets(secrets: readonly PullSecret[], address: string, repository: string): Login[] {
  const wanted = { host: loginHost(address), path: repository };
  return secrets.flatMap((secret) =>
    Object.entries(authsOf(secret))
      .flatMap(([key, entry]) => {
        const { host, path } = keyOf(key);
        const authorization = isObject(entry) ? authorizationOf(entry) : undefined;
        const fits = hostFits(host, wanted.host) && (path === '' || wanted.path === path || wanted.path.startsWith(`${path}/`));
        return fits && authorization !== undefined ? [{ path, authorization }] : [];
      })
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ authorization }): Login => ({ kind: 'password', authorization, file: `Secret ${secret.metadata.name}` })),
  );
}

function authsOf({ type, data = {} }: PullSecret): Record<string, unknown> {
  const isOld = type === 'kubernetes.io/dockercfg';
  const json = parse(data[isOld ? '.dockercfg' : '.dockerconfigjson']);
  const auths = isOld ? json : json?.['auths'];
  return isObject(auths) ? auths : {};
}

function parse(base64: string | undefined): Record<string, unknown> | undefined {
  if (base64 === undefined || base64.length > MAX_BYTES) return undefined;
  try {
    const json: unknown = JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** `https://index.docker.io/v1/` is how docker writes its own; a path may follow the host. */
function keyOf(key: string): { host: string; path: string } {
  const [host = '', ...path] = key.replace(/^https?:\/\//, '').split('/');
  const rest = path.join('/').replace(/\/+$/, '');
  return { host: loginHost(host), path: /^v[12]$/.test(rest) ? '' : rest };
}

/** `*` stands for one part of a name, as in `*.registry.example`. */
function hostFits(pattern: string, host: string): boolean {
  if (pattern === host) return true;
  const [wanted, given] = [pattern.split('.'), host.split('.')];
  return pattern.includes('*') && wanted.length === given.length && wanted.every((part, index) => part === '*' || part === given[index]);
}

function authorizationOf({ auth, username, password }: Record<string, unknown>): string | undefined {
  const login =
    typeof auth === 'string' && auth !== ''
      ? Buffer.from(auth, 'base64')
      : typeof username === 'string' && typeof password === 'string'
        ? Buffer.from(`${username}:${password}`)
        : undefined;
  return login?.includes(':') ? `Basic ${login.toString('base64')}` : undefined;
}
