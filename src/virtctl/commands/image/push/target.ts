/** Where an image is pushed to, from the name that people give it. */
import { isApiError, UserError } from '../../../../base/errors.ts';
import { type ImageReference, isLocalOnly, normaliseReference, parseReference } from '../../../../base/image-reference.ts';

type Target = {
  /** In full, as nodes pull it. */
  readonly name: string;
  /** The address of the registry. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
};

/** The registry of docker.io is not at that address. */
const HOSTS: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' };

export function pushTarget(text: string, isPlainHttp: boolean): Target {
  const { domain, repository, tag, digest } = parse(text);
  if (digest !== undefined || tag === undefined) throw invalid(text, 'its digest follows from the image and cannot be chosen');
  if (isLocalOnly(text)) throw invalid(text, 'localhost without a port means the images of this machine, not a registry');
  const registry = `${isPlainHttp ? 'http' : 'https'}://${HOSTS[domain] ?? domain}`;
  if (!URL.canParse(registry)) throw invalid(text, `${domain} cannot be the address of a machine`);
  return { name: normaliseReference(text), registry, repository, tag };
}

function parse(text: string): ImageReference {
  try {
    return parseReference(text);
  } catch (error) {
    if (!isApiError(error, 'Invalid')) throw error;
    const why = /^https?:\/\//.test(text) ? 'a name begins with the host, without https://' : 'it is not written as names of images are';
    throw invalid(text, why);
  }
}

function invalid(text: string, why: string): UserError {
  return new UserError('TARGET_INVALID', `${text} is no name for an image in a registry`, {
    why,
    fix: 'write HOST/NAME:TAG, such as registry.example.com/team/debian:12 or localhost:5000/debian:12',
    exitCode: 2,
  });
}
