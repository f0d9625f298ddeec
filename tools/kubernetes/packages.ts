/** The Debian programs that a node consists of, unpacked into the cache folder and never installed: nothing on the machine changes. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { unpackPackages } from '../guest-image/packages.ts';
import { renameIntoCache } from './rename-into-cache.ts';

const PACKAGES = [
  'containerd',
  'runc',
  'containernetworking-plugins',
  'nftables',
  'iptables',
  'iproute2',
  'docker-registry',
  'busybox-static',
];
/** What the programs above load, as a small machine may not have it. */
const LIBRARIES = [
  'libnftables1',
  'libnftnl11',
  'libmnl0',
  'libjansson4',
  'libedit2',
  'libbsd0',
  'libxtables12',
  'libip4tc2',
  'libip6tc2',
  'libnetfilter-conntrack3',
  'libnfnetlink0',
  'libseccomp2',
  'libbpf1',
  'libelf1',
];
const IPTABLES = ['iptables', 'iptables-save', 'iptables-restore', 'ip6tables', 'ip6tables-save', 'ip6tables-restore'];

/** The folder whose `usr` a node lays over its own. */
export function ensurePackages(): string {
  const names = [...PACKAGES, ...LIBRARIES];
  const parent = join(cacheFolder(), 'kubernetes');
  const folder = join(parent, `packages-${createHash('sha256').update(names.join()).digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(parent, { recursive: true });
  const workDir = mkdtempSync(join(parent, 'packages-unfinished-'));
  try {
    console.error('  . packages   fetching containerd, runc, the network plugins and a registry from Debian (once)');
    const into = join(workDir, 'root');
    mkdirSync(into);
    unpackPackages({ names, workDir, into });
    // On a merged /usr, which every Debian 12 has, these are the same folders.
    for (const part of ['bin', 'sbin', 'lib', 'lib64']) {
      if (existsSync(join(into, part))) cpSync(join(into, part), join(into, 'usr', part), { recursive: true, verbatimSymlinks: true });
    }
    for (const name of IPTABLES) symlinkSync('xtables-nft-multi', join(into, 'usr/sbin', name)); // what installing would have set up
    renameIntoCache(into, folder);
  } finally {
    rmSync(workDir, { recursive: true, force: true });
  }
  return folder;
}
