/**
 * Against DNS rebinding: a web page of a stranger can make a browser talk to 127.0.0.1 under a name of its own.
 * Only requests for a name that our certificate carries, or for the loopback, are answered.
 */
import { ApiError } from '../../../base/errors.ts';
import { subjectNamesOf } from '../../../base/node/pki.ts';

export type AllowedHosts = {
  /** Throws Forbidden for a Host header (`name`, `name:port`, `[::1]:port`) that is none of ours. */
  check(host: string): void;
  /** Throws Forbidden for a page of another site; programs send no Origin. */
  checkOrigin(origin: string | null): void;
};

/** Built from the names in the serving certificate. */
export function allowedHosts(servingCertificate: string): AllowedHosts {
  const { dnsNames, ipAddresses } = subjectNamesOf(servingCertificate);
  const names = new Set(['localhost', ...dnsNames, ...ipAddresses]);
  const isKnown = (host: string | undefined) => host !== undefined && (names.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host));
  return {
    check(host) {
      if (!isKnown(hostnameOf(`https://${host}`))) throw new ApiError('Forbidden', `"${host}" is not a name of this server`);
    },
    checkOrigin(origin) {
      if (origin !== null && !isKnown(hostnameOf(origin)))
        throw new ApiError('Forbidden', `pages of ${origin} may not connect to this server`);
    },
  };
}

/** Lower case, without port and brackets; undefined when it is not a URL. */
function hostnameOf(url: string): string | undefined {
  return URL.parse(url)
    ?.hostname.replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}
