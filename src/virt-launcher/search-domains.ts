/** Where a guest looks for short names: as in its Pod. */
import { readFileSync } from 'node:fs';
import { searchDomainsOf } from '../api/core/cluster-dns.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { CLUSTER_DNS_VARIABLE } from '../api/launcher/variables.ts';

/** DHCP carries so many, of this length together. */
const MAX_DOMAINS = 16;
const MAX_BYTES = 512;

/** With the subdomain of the instance first, if it has one. */
export function searchDomains(
  { metadata, spec }: Pick<VirtualMachineInstance, 'metadata' | 'spec'>,
  env: Readonly<Record<string, string | undefined>>,
  resolvConf = '/etc/resolv.conf',
): string[] {
  const domains = env[CLUSTER_DNS_VARIABLE] === 'embedded' ? searchDomainsOf(metadata.namespace ?? 'default') : domainsIn(resolvConf);
  const [first] = domains;
  const own = spec.subdomain && first ? [`${spec.subdomain}.${first}`] : [];
  return withinBounds([...own, ...domains]);
}

/** The last `search` line counts, as for every resolver. */
function domainsIn(path: string): string[] {
  try {
    const lines = [
      ...readFileSync(path, 'utf8')
        .slice(0, 65_536)
        .matchAll(/^search[ \t]+(.*)$/gm),
    ];
    return (lines.at(-1)?.[1] ?? '').split(/[ \t]+/).filter((domain) => domain !== '');
  } catch {
    return []; // none is said
  }
}

/** What is no name for DHCP is left out: a guest without a search list still boots. */
function withinBounds(domains: readonly string[]): string[] {
  const fitting: string[] = [];
  let bytes = 0;
  for (const domain of domains.slice(0, MAX_DOMAINS)) {
    const isName = domain.length < 254 && domain.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
    bytes += domain.length + 2;
    if (isName && bytes <= MAX_BYTES) fitting.push(domain);
  }
  return fitting;
}
