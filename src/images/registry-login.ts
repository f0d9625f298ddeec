/**
 * Logins for registries, from where podman and docker keep them. Only passwords that are in these files are used; a helper program that
 * keeps them elsewhere is never run, as a push should start nothing that nobody asked for.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type Login =
  | {
      readonly kind: 'password';
      /** The value of the header of this name: `Basic …`. Never to be printed. */
      readonly authorization: string;
      /** The file that it is from. */
      readonly file: string;
    }
  | { readonly kind: 'helper'; readonly helper: string; readonly file: string };

const DOCKER_HUB = 'docker.io';
/** The names under which people and programs reach it. */
const DOCKER_HUB_HOSTS = [DOCKER_HUB, 'index.docker.io', 'registry-1.docker.io'];

/** The login for the registry at this address (`https://…`): the first password in the files, else the helper that may have one. */
export function findLogin(address: string, env: Environment): Login | undefined {
  const host = loginHost(address);
  const found = loginFiles(env).flatMap((file) => loginsIn(file, host));
  return found.find(({ kind }) => kind === 'password') ?? found[0];
}

/** What `podman login` would be called with for this address; a port stays as it was typed, as it is part of the key. */
export function loginHost(address: string): string {
  const host = address.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
  return DOCKER_HUB_HOSTS.includes(host) ? DOCKER_HUB : host;
}

/** As podman has it: whoever names a file means no other. */
function loginFiles(env: Environment): string[] {
  const named = env['REGISTRY_AUTH_FILE'];
  if (named) return [named];
  const podman = env['XDG_RUNTIME_DIR'] ? [join(env['XDG_RUNTIME_DIR'], 'containers', 'auth.json')] : [];
  return [...podman, join(env['DOCKER_CONFIG'] || join(homedir(), '.docker'), 'config.json')];
}

function loginsIn(file: string, host: string): Login[] {
  const { auths, credHelpers, credsStore } = readLogins(file);
  for (const key of keysOf(host)) {
    const entry = isObject(auths) ? auths[key] : undefined;
    const auth = isObject(entry) ? entry['auth'] : undefined;
    if (typeof auth === 'string' && auth !== '') return [{ kind: 'password', authorization: basic(auth, host, file), file }];
  }
  const own = isObject(credHelpers) ? keysOf(host).map((key) => credHelpers[key]) : [];
  const helper = [...own, credsStore].find((name) => typeof name === 'string' && name !== '');
  return helper === undefined ? [] : [{ kind: 'helper', helper: String(helper), file }];
}

/** Docker writes an address for its own registry, podman the host; very old files have addresses for all. */
function keysOf(host: string): string[] {
  return host === DOCKER_HUB ? ['https://index.docker.io/v1/', DOCKER_HUB, 'index.docker.io'] : [host, `https://${host}`];
}

function readLogins(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return {};
    throw unreadable(file, code);
  }
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch {
    // said below, in words of our own: those of the parser quote what is in the file
  }
  throw unreadable(file, 'it is not a JSON object');
}

function unreadable(file: string, why: string): UserError {
  return new UserError('LOGINS_UNREADABLE', `cannot read the logins for registries in ${file}`, {
    why,
    fix: 'fix it, or name another file in $REGISTRY_AUTH_FILE',
  });
}

/** Encoded anew, so that whatever else is in the file does not become part of a header. */
function basic(auth: string, host: string, file: string): string {
  const login = Buffer.from(auth, 'base64');
  if (login.includes(':')) return `Basic ${login.toString('base64')}`;
  throw new UserError('LOGIN_INVALID', `the login for ${host} in ${file} cannot be read`, {
    why: 'its auth is not USER:PASSWORD in base64',
    fix: `log in again: podman login ${host}, or docker login ${host}`,
  });
}
