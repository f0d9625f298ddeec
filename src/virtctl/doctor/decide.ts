/**
 * What is good and what is not about this machine. Pure: facts in, a check per fact out.
 *
 *   failed    machines cannot run until it is fixed; the command leaves with an exit code of its own
 *   warning   they run, but worse than they could
 *   ok        nothing to do
 */
import type { HostCheck } from '../../api/page/host-checks.ts';
import { CONTAINER_PROGRAMS_FIX } from '../../base/container-programs-fix.ts';
import { humanDuration } from '../../base/duration.ts';
import type { Cgroups } from '../../base/node/cgroups.ts';
import { VIRTIOFSD_FIX } from '../../qemu/virtiofsd-fix.ts';
import { NO_WAY_OUT } from '../embedded/host-routes.ts';

/** Something that was looked for: what it is, or why it is not there. */
export type Found<T> = T | { readonly missing: string; readonly fix?: string };

export type Facts = {
  readonly now: number;
  readonly nodeVersion: string;
  readonly qemu: Found<{ readonly path: string; readonly version: string | undefined }>;
  readonly acceleration: Found<{ readonly accel: 'kvm' | 'tcg'; readonly why: string }>;
  /** Programs that the cluster's own network needs and that are not installed. */
  readonly missingNetworkPrograms: readonly string[];
  /** Programs that containers of ordinary images need and that are not installed. */
  readonly missingContainerPrograms: readonly string[];
  /** What holds containers to their limits, or why nothing does. */
  readonly cgroups: Cgroups | { readonly why: string };
  /** How many processes a user of a container may have. */
  readonly processLimit: number;
  /** There is a route to everywhere. */
  readonly isInNetwork: boolean;
  /** The running cluster is on the network of the host. */
  readonly isOnHostNetwork: boolean;
  /** What joins the network of the running cluster to the host has ended. */
  readonly isCutOff: boolean;
  readonly userNamespaces: Found<{ readonly text: string }>;
  /** Why machines cannot have users of their own, and what would help; undefined when each has. */
  readonly whyNoGuestUsers: { readonly why: string; readonly fix: string } | undefined;
  /** Why guests cannot have mounts and processes of their own; undefined when they can. */
  readonly whyNotIsolated: string | undefined;
  /** The program that shares folders with guests; undefined when it is not installed. */
  readonly virtiofsd: string | undefined;
  /** Images and Pods are on different file systems, and guests do not run as the owner of the images. */
  readonly isImageStoreApart: boolean;
  readonly homeFolder: string;
  readonly homeFreeBytes: number;
  readonly cacheFolder: string;
  readonly cacheFreeBytes: number;
  readonly availableMemoryBytes: number;
  readonly memoryBytes: number;
  readonly port: { readonly number: number; readonly isFree: boolean };
  /** Undefined while the folder does not exist. */
  readonly homePermissions: { readonly isOurs: boolean; readonly isWritableByOthers: boolean } | undefined;
  readonly demoImage: string | undefined;
  readonly cluster: { readonly state: 'running' | 'killed' | 'stopped'; readonly text: string };
  /** That the cluster ended unexpectedly and was started again, and why; undefined when it was not. */
  readonly restarts?: string;
  /** Undefined when there is no cluster to ask. */
  readonly api: Found<{ readonly text: string }> | undefined;
  readonly certificateEndsAt: number | undefined;
  /** Guests that run and that the store does not know. */
  readonly unknownGuests: readonly string[];
  /** Guests that the running cluster cannot reach: they are in another network namespace. */
  readonly guestsElsewhere: readonly string[];
  /** Undefined when nobody asked for it: it takes a while. */
  readonly store?: Found<{ readonly records: number; readonly revision: number; readonly problems: readonly string[] }>;
};

const MIN_NODE = 24;
const MIN_QEMU = 6;
const MiB = 2 ** 20;
const GiB = 2 ** 30;
const DAY_MS = 24 * 3600 * 1000;

/** All checks, in the order in which things are needed. */
export function decideChecks(facts: Facts): readonly HostCheck[] {
  return CHECKS.filter(([name]) => name !== 'store' || facts.store !== undefined).map(([name, look]) => ({ name, ...look(facts) }));
}

type Verdict = Omit<HostCheck, 'name'>;

const CHECKS: readonly (readonly [string, (facts: Facts) => Verdict])[] = [
  ['node', judgeNode],
  ['qemu', judgeQemu],
  ['acceleration', judgeAcceleration],
  ['network', judgeNetwork],
  ['namespaces', judgeNamespaces],
  ['containers', judgeContainers],
  ['container limits', judgeContainerLimits],
  ['guest users', judgeGuestUsers],
  ['guest namespaces', judgeGuestNamespaces],
  ['shared folders', judgeSharedFolders],
  ['data folder', judgeHome],
  ['data disk', ({ homeFolder, homeFreeBytes }) => judgeSpace(homeFolder, homeFreeBytes, 'set VIRT_HOME to a folder on a bigger disk')],
  [
    'cache disk',
    ({ cacheFolder, cacheFreeBytes }) => judgeSpace(cacheFolder, cacheFreeBytes, 'set KUBEVIRT_CACHE to a folder on a bigger disk'),
  ],
  ['memory', judgeMemory],
  ['port', judgePort],
  ['demo image', judgeDemoImage],
  ['cluster', judgeCluster],
  ['store', judgeStore],
  ['guests', judgeGuests],
  ['api', judgeApi],
  ['certificate', judgeCertificate],
];

const ok = (text: string): Verdict => ({ status: 'ok', text });
const warning = (text: string, fix?: string): Verdict => ({ status: 'warning', text, ...(fix && { fix }) });
const failed = (text: string, fix?: string): Verdict => ({ status: 'failed', text, ...(fix && { fix }) });

function judgeNode({ nodeVersion }: Facts): Verdict {
  const major = Number(/^v?(\d+)/.exec(nodeVersion)?.[1] ?? 0);
  return major >= MIN_NODE ? ok(nodeVersion) : failed(`${nodeVersion} is older than ${MIN_NODE}`, 'script/bootstrap');
}

function judgeQemu({ qemu }: Facts): Verdict {
  if ('missing' in qemu) return failed(qemu.missing, qemu.fix);
  const { path, version = 'of an unknown version' } = qemu;
  const isOld = Number.parseInt(version, 10) < MIN_QEMU;
  return isOld ? warning(`${version} is older than ${MIN_QEMU}.0 (${path})`, 'install a newer QEMU') : ok(`${version} (${path})`);
}

function judgeAcceleration({ acceleration }: Facts): Verdict {
  if ('missing' in acceleration) return failed(acceleration.missing, acceleration.fix);
  if (acceleration.accel === 'kvm') return ok(`KVM: ${acceleration.why}`);
  const fix = acceleration.why.includes('EACCES')
    ? 'add yourself to the group kvm: sudo usermod -aG kvm $USER, then log in again'
    : 'turn on virtualization in the firmware, or nested virtualization for this virtual machine';
  return warning(`guests are emulated, about ten times slower: ${acceleration.why}`, fix);
}

function judgeNetwork({ missingNetworkPrograms: missing, isInNetwork, isOnHostNetwork, isCutOff }: Facts): Verdict {
  if (isCutOff)
    return failed(
      'pasta, which joins the network of the cluster to the host, has ended: guests and Pods have no way out, and the web page is out of reach',
      'stop the process of the cluster with kill (guests run on), then virtctl up, which starts pasta again',
    );
  if (isOnHostNetwork)
    return warning(
      'the cluster is on the network of the host: Services have no addresses inside, guests have no way out and do not reach each other',
      'virtctl down, then virtctl up without --host-network',
    );
  if (missing.length === 0 && !isInNetwork) return warning(NO_WAY_OUT, 'connect it; ip route shows a default route then');
  if (missing.length === 0) return ok('pasta, unshare, nsenter, setsid and ip are there');
  const isPasta = missing.includes('pasta');
  return warning(
    `${missing.join(', ')} not installed: the cluster can have no network of its own, and virtctl up refuses to start without --host-network`,
    `apt-get install ${isPasta ? 'passt ' : ''}util-linux iproute2`,
  );
}

function judgeContainers({ missingContainerPrograms: missing }: Facts): Verdict {
  if (missing.length === 0) return ok('crun runs them, slirp4netns is their network');
  return warning(`${missing.join(', ')} not installed: Pods of ordinary images wait, machines run`, CONTAINER_PROGRAMS_FIX);
}

function judgeContainerLimits({ cgroups, processLimit }: Facts): Verdict {
  const processes = `${processLimit} processes`;
  if ('why' in cgroups) return ok(`${processes} for a user of a Pod; memory and processors are not limited: ${cgroups.why}`);
  const { version, parents } = cgroups;
  const held = Object.keys(parents).filter((name) => name !== 'pids');
  const missing = ['cpu', 'memory'].filter((name) => !held.includes(name));
  const not = missing.length > 0 ? `; ${missing.join(' and ')} not limited: this machine does not offer it` : '';
  return ok(`${processes} for a container, and its ${held.join(' and ')} by cgroups of version ${version}${not}`);
}

function judgeNamespaces({ userNamespaces }: Facts): Verdict {
  if (!('missing' in userNamespaces)) return ok(userNamespaces.text);
  return warning(userNamespaces.missing, userNamespaces.fix);
}

function judgeGuestUsers({ whyNoGuestUsers }: Facts): Verdict {
  if (!whyNoGuestUsers) return ok('each machine runs as a user of its own');
  const { why, fix } = whyNoGuestUsers;
  return warning(`all guests run as you: one that breaks out of its QEMU reaches your files and the other guests; ${why}`, fix);
}

function judgeGuestNamespaces({ whyNotIsolated }: Facts): Verdict {
  if (whyNotIsolated === undefined) return ok('each guest has mounts and processes of its own');
  return warning(
    `guests see the files and processes of this machine: ${whyNotIsolated}`,
    'apt-get install util-linux; namespaces must be open to you',
  );
}

function judgeSharedFolders({ virtiofsd }: Facts): Verdict {
  return virtiofsd ? ok(`by ${virtiofsd}`) : warning('virtctl run --mount does not work: virtiofsd is not installed', VIRTIOFSD_FIX);
}

function judgeHome({ homeFolder, homePermissions, isImageStoreApart }: Facts): Verdict {
  if (!homePermissions) return ok(`${homeFolder}, made by virtctl up`);
  const otherFolder = 'or set VIRT_HOME to a folder of your own';
  if (!homePermissions.isOurs) return failed(`${homeFolder} belongs to somebody else`, `sudo chown -R $USER ${homeFolder}, ${otherFolder}`);
  if (homePermissions.isWritableByOthers)
    return failed(`${homeFolder} can be written by others`, `chmod go-w ${homeFolder}, ${otherFolder}`);
  if (isImageStoreApart)
    return failed(
      `${homeFolder}/images and ${homeFolder}/kubelet are on different file systems: no guest can open its image`,
      otherFolder.slice(3),
    );
  return ok(homeFolder);
}

function judgeSpace(folder: string, freeBytes: number, fix: string): Verdict {
  const text = `${size(freeBytes)} free at ${folder}`;
  if (freeBytes < 200 * MiB) return failed(text, fix);
  return freeBytes < 2 * GiB ? warning(text, fix) : ok(text);
}

function judgeMemory({ availableMemoryBytes, memoryBytes }: Facts): Verdict {
  const text = `${size(availableMemoryBytes)} of ${size(memoryBytes)} available`;
  const fix = 'stop other programs, or give machines less memory';
  if (availableMemoryBytes < 256 * MiB) return failed(text, fix);
  return availableMemoryBytes < GiB ? warning(text, fix) : ok(text);
}

function judgePort({ port, cluster }: Facts): Verdict {
  if (cluster.state === 'running') return ok('in use by the cluster');
  if (port.isFree) return ok(`${port.number} is free`);
  return warning(`${port.number} is taken by another program; virtctl up takes the next free one`, 'virtctl up --port NUMBER');
}

function judgeDemoImage({ demoImage }: Facts): Verdict {
  return demoImage ? ok(demoImage) : warning('not built yet, so virtctl up --demo has nothing to boot', 'script/bootstrap');
}

function judgeCluster({ cluster, restarts, homeFolder }: Facts): Verdict {
  const text = restarts === undefined ? cluster.text : `${cluster.text}; ${restarts}`;
  if (cluster.state !== 'running') return warning(text, 'virtctl up');
  return restarts === undefined ? ok(text) : warning(text, `what came before is in ${homeFolder}/logs/embedded.log`);
}

function judgeGuests({ unknownGuests, guestsElsewhere }: Facts): Verdict {
  if (guestsElsewhere.length > 0) {
    const fix =
      'virtctl restart NAME; or stop the process of the cluster with kill (guests run on), then virtctl up, which joins their network';
    return failed(`in another network than the cluster, and out of its reach: ${guestsElsewhere.join(', ')}`, fix);
  }
  if (unknownGuests.length === 0) return ok('the cluster knows all that run');
  const fix = 'virtctl down shuts them down; with their old store back in its place they are guests of the cluster again';
  return warning(`outside of the cluster run: ${unknownGuests.join(', ')}`, fix);
}

function judgeStore({ store, homeFolder }: Facts): Verdict {
  if (!store) return ok('not looked at');
  if ('missing' in store) return failed(store.missing, store.fix);
  const { records, revision, problems } = store;
  if (problems.length === 0) return ok(`all ${records} records are whole, up to revision ${revision}`);
  const [first, ...more] = problems.length > 4 ? [...problems.slice(0, 3), `${problems.length - 4} more`, ...problems.slice(-1)] : problems;
  const fix = `virtctl down, then virtctl restore --salvage, or virtctl restore with one of ${homeFolder}/backups`;
  return failed([first, ...more].join('; '), fix);
}

function judgeApi({ api }: Facts): Verdict {
  if (!api) return warning('not asked: no cluster runs', 'virtctl up');
  return 'missing' in api ? failed(api.missing, api.fix) : ok(api.text);
}

function judgeCertificate({ certificateEndsAt, now }: Facts): Verdict {
  if (certificateEndsAt === undefined) return ok('none yet');
  const left = certificateEndsAt - now;
  const fix = 'virtctl down, then virtctl up, which renews it';
  if (left <= 0) return failed(`expired ${humanDuration(-left)} ago`, fix);
  return left < 14 * DAY_MS ? warning(`expires in ${humanDuration(left)}`, fix) : ok(`valid for ${humanDuration(left)}`);
}

function size(bytes: number): string {
  return bytes >= 10 * GiB
    ? `${Math.round(bytes / GiB)} GiB`
    : bytes >= GiB
      ? `${(bytes / GiB).toFixed(1)} GiB`
      : `${Math.round(bytes / MiB)} MiB`;
}
