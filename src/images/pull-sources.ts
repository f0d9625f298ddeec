/** Where an image is asked for, in order, and with which login. Pure. */
import { UserError } from '../base/errors.ts';
import { normaliseReference, parseReference } from '../base/image-reference.ts';
import { isLoopbackHost } from './guarded-fetch.ts';
import type { RegistriesFile } from './registries-file.ts';
import type { Login } from './registry-login.ts';

export type PullSource = {
  /** `https://registry.example` */
  readonly registry: string;
  readonly repository: string;
  /** One after the other; none is tried where all are refused. */
  readonly logins: readonly Login[];
};
export type FindLogins = (address: string, repository: string) => readonly Login[];

/** The registry of docker.io is not at that address. */
const HOSTS: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

/** Mirrors first; throws for an image that nobody else can have. */
export function pullSources(options: {
  readonly reference: string;
  readonly mirrors: RegistriesFile['mirrors'];
  readonly findLogins: FindLogins;
  /** False where the loopback is that of the cluster: who names an image must not reach what listens there. */
  readonly hasHostLoopback: boolean;
}): PullSource[] {
  const { reference, mirrors, findLogins, hasHostLoopback } = options;
  const { domain, repository } = parseReference(reference);
  if (domain === 'localhost') throw localOnly(reference);
  const at = (address: string): PullSource => {
    const { origin, pathname } = new URL(address);
    const path = `${pathname.replace(/^\/+|\/+$/g, '')}/${repository}`.replace(/^\//, '');
    return { registry: origin, repository: path, logins: findLogins(origin, path) };
  };
  const own = HOSTS[domain] ?? domain;
  if (!URL.canParse(`https://${own}`))
    throw notPulled(reference, `${domain} cannot be the address of a machine`, 'correct the name of the image');
  const isLoopback = isLoopbackHost(new URL(`https://${own}`).hostname);
  const all = [...(mirrors.get(domain) ?? mirrors.get('*') ?? []), `${isLoopback ? 'http' : 'https'}://${own}`];
  const usable = all.filter((address) => hasHostLoopback || !isLoopbackHost(new URL(address).hostname));
  if (usable.length === 0)
    throw notPulled(
      reference,
      'its registry is at the loopback of this machine, which the embedded cluster does not reach',
      `bring it into the store: virtctl image pull ${normaliseReference(reference)}`,
    );
  return usable.map(at);
}

function localOnly(reference: string): UserError {
  return notPulled(
    reference,
    'localhost without a port means the images of this machine, not a registry',
    'bring it in with "virtctl image import"',
  );
}

function notPulled(reference: string, why: string, fix: string): UserError {
  return new UserError('IMAGE_NOT_PULLED', `image "${reference}" cannot be pulled`, { why, fix, exitCode: 2 });
}
