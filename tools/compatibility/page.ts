/** The generated parts of docs/compatibility.md: a table per published type, between two marks. The rest of the page is written by hand. */
import type { KindRecord } from '../../src/api/kind.ts';
import { PUBLISHED_KINDS, PUBLISHED_SUBRESOURCES } from '../../src/api/kubevirt/generated/published-types.ts';
import { whyRefused } from '../../src/api/kubevirt/why-refused.ts';
import type { ComparedField } from '../../src/api/schema/published.ts';
import { ROUTES } from '../../src/virt-api/routes.ts';
import { withSection } from '../generated-section.ts';
import type { FullKind } from '../kind-files.ts';
import { isPublished, isStatusPublished, specFields, statusFields } from './compared.ts';
import { nestedSpecs } from './nested-specs.ts';

/** What is to be known of a field that is honoured in part. */
const NOTES: Readonly<Record<string, string>> = {
  'DataVolume source.http.checksum': 'the digest of what is fetched, as `sha256:…`',
  'VirtualMachineSnapshot memory': 'the memory of the machine is kept with its disks (ADR 160)',
  'VirtualMachineSnapshotContent memory': 'the memory that was kept (ADR 160)',
  'VirtualMachineInstance evictionStrategy':
    '`LiveMigrate` and `LiveMigrateIfPossible` move a machine off a node that is drained, where it can be moved',
  'VirtualMachineInstance domain.devices.interfaces': 'one, on the Pod network',
  'VirtualMachineInstance domain.devices.interfaces[].bridge': 'embedded, the same as masquerade',
  'VirtualMachineInstance architecture': '`amd64` alone',
  'VirtualMachineInstance dnsConfig': 'on a cluster, without `options`; kept embedded, where guests ask the cluster DNS',
  'VirtualMachineInstance dnsPolicy': 'on a cluster; kept embedded, where guests ask the cluster DNS',
  'VirtualMachineInstance serviceAccountName': 'the account of the Pod, which has no token but that of a volume',
  'VirtualMachineInstance volumes[].containerDisk.imagePullSecret': 'on a cluster; embedded, images come from the local store',
  'VirtualMachineInstance domain.clock.timer.rtc.present': '`true` alone',
  'VirtualMachineInstance domain.cpu.features[].policy': 'all but `forbid`, which is about the choice of node',
  'VirtualMachineInstance domain.devices.blockMultiQueue': 'disks on virtio have a queue for each processor anyway',
  'VirtualMachineInstance domain.cpu.maxSockets': 'a bound; nothing is plugged in while the guest runs, as with rollout strategy `Stage`',
  'VirtualMachineInstance domain.memory.maxGuest': 'a bound; nothing is plugged in while the guest runs, as with rollout strategy `Stage`',
  'VirtualMachineInstance domain.memory.reservedOverhead.memLock': '`NotRequired` alone',
  'VirtualMachineInstance domain.clock.timer.hpet.tickPolicy': '`delay` alone, as QEMU does',
  'VirtualMachineInstance domain.devices.disks[].disk.pciAddress': 'on the root bus, from `0000:00:01.0` to `0000:00:1e.0`',
  'VirtualMachineInstance domain.devices.disks[].lun':
    'of a PVC with `volumeMode: Block` whose device takes SCSI commands; embedded there is none, and the instance says so',
  'VirtualMachineInstance domain.devices.disks[].lun.bus': '`scsi` alone',
  'VirtualMachineInstance domain.devices.disks[].tag': 'in the metadata of a config drive',
  'VirtualMachineInstance domain.devices.interfaces[].bootOrder': 'by PXE, from whatever answers on the Pod network',
  'VirtualMachineInstance domain.devices.interfaces[].pciAddress': 'on the root bus, from `0000:00:01.0` to `0000:00:1e.0`',
  'VirtualMachineInstance domain.devices.interfaces[].portRanges': 'at most 512 ports of a card in all, with `ports`',
  'VirtualMachineInstance domain.devices.interfaces[].ports': 'at most 512',
  'VirtualMachineInstance domain.devices.interfaces[].state': '`up` alone',
  'VirtualMachineInstance domain.devices.interfaces[].tag': 'in the metadata of a config drive',
  'VirtualMachineInstance domain.devices.networkInterfaceMultiqueue': 'with a warning for several processors: there is one queue',
  'VirtualMachineInstance domain.devices.disks[].cdrom.tray': '`closed` alone',
  'VirtualMachineInstance domain.devices.interfaces[].model': '`virtio`, `e1000`, `e1000e`, `rtl8139`',
  'VirtualMachineInstance domain.devices.panicDevices[].model': '`pvpanic`, which is always there, and `isa`',
  'VirtualMachineInstance domain.devices.rng': 'there always is one',
  'VirtualMachineInstance domain.devices.video.type': '`vga`, `virtio`, `bochs`, `cirrus`',
  'VirtualMachineInstance domain.features.hyperv': 'with KVM; software emulation has none of it',
  'VirtualMachineInstance domain.firmware.bootloader.bios': 'every guest starts with one',
  'VirtualMachineInstance domain.ioThreadsPolicy': '`shared` and `auto`',
  'VirtualMachineInstance volumes[].hostDisk':
    'a file of the node, with the feature gate `HostDisk`, in a folder that `hostDiskFolders` of the KubeVirt object names',
  'VirtualMachineInstance volumes[].hostDisk.shared': 'kept: such a machine is not moved',
  'KubeVirt configuration.developerConfiguration.hostDiskFolders': 'where files of nodes may be disks, and of machines of which namespaces',
  'VirtualMachine runStrategy': 'all but `WaitAsReceiver`, which belongs to migration between clusters',
  'KubeVirt configuration.vmRolloutStrategy': '`Stage` alone',
  'KubeVirt configuration.architectureConfiguration.arm64': 'kept: machines are amd64',
  'KubeVirt configuration.architectureConfiguration.ppc64le': 'kept: machines are amd64',
  'KubeVirt configuration.architectureConfiguration.s390x': 'kept: machines are amd64',
  'KubeVirt configuration.evictionStrategy':
    '`LiveMigrate` and `LiveMigrateIfPossible` move a machine off a node that is drained, where it can be moved',
  'KubeVirt configuration.developerConfiguration.logVerbosity':
    'everything is said from 3 on; embedded the level is that of `KUBEVIRT_LOG`',
  'KubeVirt configuration.developerConfiguration.logVerbosity.virtLauncher': 'kept: a launcher becomes QEMU after a few lines',
  'KubeVirt configuration.developerConfiguration.logVerbosity.virtSynchronizationController': 'kept: there is no such component',
  'KubeVirt configuration.memBalloonStatsPeriod':
    '10 when it is not set; 0 is never: then metrics and history have no memory as the guest sees it',
  'KubeVirt configuration.roleAggregationStrategy': 'on a cluster; kept embedded',
  'KubeVirt configuration.tlsConfiguration': 'of virt-api, 1.2 at least; between our components it is 1.3',
  'KubeVirt configuration.virtualMachineInstancesPerNode': 'of machines with KVM, on a cluster',
  'KubeVirt configuration.hypervisors[].name': '`kvm` alone; without KVM on a node software emulation takes its place',
  'KubeVirt configuration.network.defaultNetworkInterface': '`masquerade` alone',
  'KubeVirt configuration.network.permitBridgeInterfaceOnPodNetwork': 'kept: bridges are refused on a cluster either way',
  'KubeVirt configuration.network.permitSlirpInterface': 'kept: this binding is refused either way',
  'KubeVirt configuration.permittedHostDevices': 'kept: machines that ask for a device of the host are refused either way',
  'KubeVirt configuration.supportContainerResources[].type': 'those of `container-disk`, where images are no volumes; the others are kept',
  'KubeVirt configuration.ovmfPath': 'kept: machines that ask for EFI are refused either way',
  'KubeVirt configuration.architectureConfiguration.amd64.ovmfPath': 'kept: machines that ask for EFI are refused either way',
  'KubeVirt configuration.vmStateStorageClass': 'kept: machines that ask for a TPM or EFI are refused either way',
  'KubeVirt configuration.migrations': 'for moves that begin from then on; see [migration](migration.md#limits)',
  'KubeVirt configuration.migrations.allowPostCopy': '`false` alone: post-copy cannot be had without privileges',
  'KubeVirt configuration.migrations.disableTLS': '`false` alone',
  'KubeVirt configuration.migrations.matchSELinuxLevelOnMigration': 'kept: the container runtime gives the level',
  'KubeVirt configuration.migrations.nodeDrainTaintKey':
    'machines leave nodes with that taint; see [migration](migration.md#draining-a-node)',
  'KubeVirt configuration.migrations.unsafeMigrationOverride': 'kept: no move is refused as unsafe that KubeVirt would then begin',
  'KubeVirt configuration.migrations.utilityVolumesTimeout': 'kept: there are no utility volumes',
  'DataVolume contentType': '`kubevirt` alone; not `archive`',
  'MigrationPolicy allowPostCopy': '`false` alone: post-copy cannot be had without privileges',
  'KubeVirt configuration.liveUpdateConfiguration': 'kept: with the rollout strategy `Stage` it is without effect in KubeVirt, too',
  'KubeVirt configuration.network.binding': 'kept: machines that ask for a plugin are refused either way',
  'KubeVirt configuration.webhookConfiguration': 'of virt-api, where `apiConfiguration` says nothing',
  'KubeVirt customizeComponents': 'on a cluster; kept embedded, where there are no such objects',
  'KubeVirt customizeComponents.flags': '`v` of every component, and those that ours have; others are refused by name',
  'KubeVirt serviceMonitorNamespace': 'kept: ServiceMonitor and PrometheusRule are in the namespace of the installation',
  'KubeVirt configuration.supportedGuestAgentVersions': 'kept: without effect in KubeVirt, too',
};

/** Fields that the schemas have for whoever writes them, and that no component of ours does. */
const UNWRITTEN = ['conditions[].lastProbeTime'];

/** What is said before the table of a kind. */
const INTRODUCTIONS: Readonly<Record<string, string>> = {
  KubeVirt: `On a cluster virt-operator reads it: images, replicas, placement, certificates, and whether it may go while there are machines (KubeVirt lets it
go unless told otherwise; here \`uninstallStrategy\` is \`BlockUninstallIfWorkloadsExist\` when it is not set, and then the object stays, with the
names of some machines in its conditions, until they are gone). An embedded cluster needs none of that and keeps it as written.
\`configuration\` is honoured everywhere: a change reaches running components within a second, and machines at their next start. Values that contradict each
other are refused; where they got in without admission, the object says Degraded, and the last good configuration stays in force (ADR 47).
\`vmRolloutStrategy\` can be \`Stage\` alone. Feature gates are kept and change nothing, but for two of KubeVirt, \`EnableVirtioFsStorageVolumes\` (shared folders) and \`HostDisk\` (files of nodes
in the folders of \`developerConfiguration.hostDiskFolders\`), and two of ours: with \`LauncherFailFast\` instances that have the annotation
\`kubevirt.io/func-test-virt-launcher-fail-fast\` fail at once, for trying what follows; with \`UserNamespaces\` launcher Pods have a user
namespace of their own (\`hostUsers: false\`; Kubernetes 1.33 and a runtime that can do it; not for machines with block volumes).`,
};

/** The page with its tables made anew. */
export function compatibilityPage(page: string, kinds: readonly FullKind[]): string {
  const published = kinds.filter(isPublished);
  const sections = {
    kinds: kindsTable(kinds),
    absent: absentKinds(kinds),
    numbers: numbers(published),
    specs: published.map(specSection).join('\n'),
    statuses: published.filter(isStatusPublished).map(statusSection).join('\n'),
    subresources: subresources(),
  };
  return Object.entries(sections).reduce((text, [name, content]) => withSection(text, name, content), page);
}

function kindsTable(kinds: readonly FullKind[]): string {
  const rows = kinds.map(({ record: { kind, group, versions, shortNames, remark = '' } }) => {
    const [stored, ...others] = versions;
    const served = others.length > 0 ? [`${stored} (stored)`, ...others] : [stored];
    return `| ${kind} | ${group} | ${served.join(', ')} | ${shortNames.join(', ')} | ${remark} |\n`;
  });
  return `| kind | group | versions | short names | |\n|---|---|---|---|---|\n${rows.join('')}`;
}

function absentKinds(kinds: readonly FullKind[]): string {
  const absent = Object.entries(PUBLISHED_KINDS).filter(([kind]) => !kinds.some(({ record }) => record.kind === kind));
  const groups = [...new Set(absent.map(([, group]) => group))].sort();
  const lines = groups.map((each) => `- ${each}: ${absent.flatMap(([kind, group]) => (group === each ? kind : [])).join(', ')}\n`);
  return lines.length === 0
    ? 'Every kind that KubeVirt publishes is here.\n'
    : `Published by KubeVirt and not supported yet:\n\n${lines.join('')}`;
}

function numbers(kinds: readonly FullKind[]): string {
  const rows = kinds.map((full) => {
    const fields = specFields(full).filter(({ type }) => type);
    const honoured = fields.filter(({ isHonoured }) => isHonoured).length;
    return `| ${full.record.kind} | ${honoured} | ${fields.length - honoured} |\n`;
  });
  return `| spec of | honoured | refused |\n|---|---|---|\n${rows.join('')}`;
}

function specSection(full: FullKind): string {
  const rows = specFields(full).map((field) => `| \`${field.path}\` | ${typeOf(field)} | ${verdict(full.record, field)} |\n`);
  const nested = nestedSpecs(full).map(({ at, of }) => `\`${at.replace(/\.$/, '')}\` is the spec of a ${of.record.kind}.`);
  const introduction = [INTRODUCTIONS[full.record.kind] ?? [], ...nested].flat().map((text) => `${text}\n\n`);
  return `## ${full.record.kind} spec\n\n${introduction.join('')}| field | type | |\n|---|---|---|\n${rows.join('')}`;
}

function statusSection(full: FullKind): string {
  return `### ${full.record.kind} status\n\n${statusLines(full)}`;
}

function verdict(record: KindRecord, { path, type, isHonoured }: ComparedField): string {
  const note = NOTES[`${record.kind} ${path}`];
  if (!type) return `ours: ${note ?? 'an old spelling that is still understood'}`;
  if (isHonoured) return note ? `honoured: ${note}` : 'honoured';
  const reason = whyRefused(record, path);
  if (!reason) throw new Error(`the record of ${record.kind} has no reason why ${path} is refused`);
  return `**refused**: ${reason}`;
}

/** Nobody asks for a field of a status, so none is refused: it is written, or it is not. */
function statusLines(full: FullKind): string {
  const published = statusFields(full).filter(({ type }) => type);
  const isWritten = ({ path, isHonoured }: ComparedField) => isHonoured && !UNWRITTEN.includes(path);
  const named = (fields: readonly ComparedField[]) => fields.map(({ path }) => `\`${path}\``).join(', ') || 'nothing';
  return `Written: ${named(published.filter(isWritten))}.\n\nNever written: ${named(published.filter((field) => !isWritten(field)))}.\n`;
}

function typeOf({ type = '' }: ComparedField): string {
  return type
    .replace('~', '')
    .replace(/^\[\](.*)/, 'list of $1')
    .replace(/^\{\}(.*)/, 'map of $1');
}

function subresources(): string {
  const served = ROUTES.map(({ resource, subresource }) => `${resource}/${subresource}`).sort();
  const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const missing = PUBLISHED_SUBRESOURCES.filter((name) => !served.includes(name));
  return `Served: ${quoted(served)}.\n\nPublished by KubeVirt and not served: ${quoted(missing) || 'none'}.\n`;
}
