/** What an export says of itself: how far it is, and where its disks are. Pure. */
import { ARCHIVE_FORMAT, type DiskFile, diskPath, exportObjectName, type LinkSide, manifestPath } from '../../api/exporter/exporter.ts';
import type { VmExportConditions } from '../../api/kubevirt/condition-reasons.ts';
import { withCondition } from '../../api/kubevirt/conditions.ts';
import { expiryOf, type VmExportPhase, type VmExportStatus } from '../../api/kubevirt/kinds/vm-export.ts';
import { timestamp } from '../../base/timestamp.ts';
import { externalUrl, internalUrl } from './export-pod.ts';
import type { ObservedVmExport, Waiting } from './observed.ts';

export type Said = Waiting & { readonly phase: VmExportPhase };
type Links = NonNullable<VmExportStatus['links']>;
type Link = NonNullable<Links['internal']>;

/** Links are there while they lead somewhere. */
export function deriveVmExportStatus(observed: ObservedVmExport, said: Said): VmExportStatus {
  const { export: exported, source, now } = observed;
  const { links: _, ...before } = exported.status ?? {};
  const links = said.phase === 'Ready' ? linksOf(observed) : undefined;
  const { machine } = source;
  return {
    ...before,
    phase: said.phase,
    ttlExpirationTime: timestamp(expiryOf(exported)),
    serviceName: exportObjectName(exported.metadata.name),
    ...(machine && { virtualMachineName: machine.metadata.name }),
    ...(links && { links }),
    conditions: conditionsOf(observed, said, now),
  };
}

function conditionsOf({ export: exported, source }: ObservedVmExport, { phase, reason, message }: Said, now: number) {
  const ready = { type: 'Ready', status: phase === 'Ready' ? 'True' : 'False', reason, message } as const;
  const before = withCondition<VmExportConditions>(exported.status?.conditions ?? [], ready, now);
  if (phase === 'Skipped')
    return withCondition<VmExportConditions>(before, { type: 'PVCReady', status: 'False', reason: 'VMNoVolumes', message }, now);
  const isBound = source.volumes.length > 0 && source.volumes.every(({ claim }) => claim?.status?.phase === 'Bound');
  const why = source.waiting ? 'NotAllPVCsReady' : 'PVCPending';
  return withCondition<VmExportConditions>(
    before,
    { type: 'PVCReady', status: isBound && !source.waiting ? 'True' : 'False', reason: isBound && !source.waiting ? 'PVCBound' : why },
    now,
  );
}

function linksOf(observed: ObservedVmExport): Links {
  const { export: exported, external, state } = observed;
  return {
    internal: linkOf(observed, { side: 'internal', url: internalUrl(exported), cert: state?.cert ?? '' }),
    ...(external && { external: linkOf(observed, { side: 'external', url: externalUrl(exported, external.url), cert: external.cert }) }),
  };
}

type LinkFormat = { readonly format: string; readonly file: DiskFile };
const DISK_FORMATS: readonly LinkFormat[] = [
  { format: 'raw', file: 'disk.img' },
  { format: 'gzip', file: 'disk.img.gz' },
];
/** Of a volume that is no disk. */
const FILES_FORMATS: readonly LinkFormat[] = [
  { format: 'dir', file: 'dir' },
  { format: ARCHIVE_FORMAT, file: 'disk.tar.gz' },
];

function linkOf({ source, state }: ObservedVmExport, { side, url, cert }: { side: LinkSide; url: string; cert: string }): Link {
  return {
    cert,
    volumes: source.volumes.map(({ name }) => ({
      name,
      formats: (state?.volumes.find((each) => each.name === name)?.hasFiles ? FILES_FORMATS : DISK_FORMATS).map(({ format, file }) => ({
        format,
        url: `${url}${diskPath(name, file)}`,
      })),
    })),
    ...(source.machine && {
      manifests: [
        { type: 'all', url: `${url}${manifestPath(side, 'all')}` },
        { type: 'auth-header-secret', url: `${url}${manifestPath(side, 'secret')}` },
      ],
    }),
  };
}
