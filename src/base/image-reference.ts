/** Image references as people write them and as they are stored: `nginx` is `docker.io/library/nginx:latest`. */
import { ApiError } from './errors.ts';

export type ImageReference = {
  /** Where it would be pulled from: `docker.io`, `quay.io`, `localhost:5000`; `localhost` alone is no registry. */
  readonly domain: string;
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
};

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d{1,5})?$/;
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[a-f0-9]{64}$/;
/** What a registry may use instead; here such an image is not found. */
const OTHER_DIGEST = /^(?!sha256:)[a-z][a-z0-9]*(?:[+._-][a-z][a-z0-9]*)*:[0-9a-f]{32,}$/;
const MAX_LENGTH = 512;

/** Reads a reference in any of its spellings; throws Invalid for anything else. */
export function parseReference(text: string): ImageReference {
  if (text.length > MAX_LENGTH) throw invalid(`${text.slice(0, 60)}...`);
  const [beforeDigest = '', digest, ...more] = text.split('@');
  const slash = beforeDigest.indexOf('/');
  const first = beforeDigest.slice(0, Math.max(slash, 0));
  const hasDomain = first === 'localhost' || /[.:]/.test(first);
  const path = hasDomain ? beforeDigest.slice(slash + 1) : beforeDigest;
  const domain = hasDomain ? first.toLowerCase().replace(/^index\.docker\.io$/, 'docker.io') : 'docker.io';
  const [name = '', tag, ...rest] = path.split(':');
  const repository = domain === 'docker.io' && !name.includes('/') ? `library/${name}` : name;

  const isValid =
    more.length === 0 &&
    rest.length === 0 &&
    DOMAIN.test(domain) &&
    REPOSITORY.test(repository) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest) || OTHER_DIGEST.test(digest));
  if (!isValid) throw invalid(text);
  return { domain, repository, ...(tag === undefined && digest === undefined ? { tag: 'latest' } : { tag }), digest };
}

/** True for a text that names an image, in any of the spellings. */
export function isImageReference(text: string): boolean {
  try {
    parseReference(text);
    return true;
  } catch {
    return false; // it throws for nothing else
  }
}

/** The one spelling used as a key: domain, repository, tag and (when given) digest. */
export function normaliseReference(text: string): string {
  const { domain, repository, tag, digest } = parseReference(text);
  return `${domain}/${repository}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`;
}

/** The name without tag or digest, as in `docker.io/library/nginx`. */
export function repositoryOf(text: string): string {
  const { domain, repository } = parseReference(text);
  return `${domain}/${repository}`;
}

/** True for `localhost/...`: made here, found nowhere else, never pulled. `localhost:5000/...` is a registry. */
export function isLocalOnly(text: string): boolean {
  return parseReference(text).domain === 'localhost';
}

/** True for the text of a sha256 digest as OCI writes it. */
export function isDigest(text: unknown): text is string {
  return typeof text === 'string' && DIGEST.test(text);
}

function invalid(text: string): ApiError {
  return new ApiError('Invalid', `couldn't parse image name ${JSON.stringify(text)}: invalid reference format`);
}
