/**
 * What makes the same machine in another cluster, as KubeVirt publishes it: the machine with DataVolumes that import its disks from the links,
 * the authority that vouches for these, and a Secret with the token for who imports. Pure.
 */
import { diskPath, EXPORT_TOKEN_HEADER, type ExportTask, type LinkSide } from '../../api/exporter/exporter.ts';
import { DATA_VOLUMES } from '../../api/kubevirt/kinds/data-volume.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import type { KubeObject } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';

const FALLBACK_SIZE = '10Gi';

/** The machine, and what it needs. */
export function machineManifests(task: ExportTask, side: LinkSide): KubeObject[] {
  const { machine, volumes, exportName } = task;
  const base = task.bases[side];
  if (!machine || !base) return [];
  const authority = `export-ca-cm-${exportName}`;
  const dataVolumes = volumes.map(({ name, storage = FALLBACK_SIZE }) => ({
    apiVersion: apiVersionOf(DATA_VOLUMES),
    kind: DATA_VOLUMES.kind,
    metadata: { name },
    spec: {
      source: {
        http: {
          url: `${base.url}${diskPath(name, 'disk.img.gz')}`,
          ...(base.cert !== undefined && { certConfigMap: authority }),
          secretExtraHeaders: [headerSecretName(task)],
        },
      },
      storage: { resources: { requests: { storage } } },
    },
  }));
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: authority }, data: { 'ca.pem': base.cert ?? '' } };
  return [...(base.cert === undefined ? [] : [configMap]), vmOf(machine, volumes), ...dataVolumes];
}

/** What CDI shows to the links. */
export function headerSecret(task: ExportTask, token: string): KubeObject {
  const stringData = { token: `${EXPORT_TOKEN_HEADER}:${token}` };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: headerSecretName(task) }, stringData } as KubeObject;
}

function headerSecretName({ exportName }: ExportTask): string {
  return `header-secret-${exportName}`;
}

/** Its disks are DataVolumes of the names of its PVCs; what a cluster has written into it stays behind. */
function vmOf({ metadata, spec }: NonNullable<ExportTask['machine']>, exported: ExportTask['volumes']): KubeObject {
  const { name, labels, annotations } = metadata;
  const { dataVolumeTemplates: _, ...rest } = spec;
  const volumes = spec.template.spec.volumes?.map((volume) => {
    const claim = claimOf(volume);
    if (!claim || !exported.some((each) => each.name === claim.claimName)) return volume;
    return { name: volume.name, dataVolume: { name: claim.claimName } };
  });
  const template = { ...spec.template, spec: { ...spec.template.spec, ...(volumes && { volumes }) } };
  return {
    apiVersion: apiVersionOf(VMS),
    kind: VMS.kind,
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { ...rest, template },
  } as KubeObject;
}
