/** What the aggregated group offers, as clients and the API server in front ask for it. */
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC, SUBRESOURCES } from '../api/kubevirt/subresources-table.ts';

/** GET /apis/subresources.kubevirt.io/VERSION */
export function resourceList(version: string): object {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${SUBRESOURCES_GROUP}/${version}`,
    resources: [
      { name: EXPAND_VM_SPEC.resource, singularName: '', namespaced: true, kind: EXPAND_VM_SPEC.kind, verbs: EXPAND_VM_SPEC.verbs },
      ...SUBRESOURCES.map(({ resource, subresource, kind, verbs }) => ({
        name: `${resource}/${subresource}`,
        singularName: '',
        namespaced: true,
        kind,
        verbs,
      })),
    ],
  };
}

/** GET /apis/subresources.kubevirt.io */
export function group(): object {
  const versions = SUBRESOURCE_VERSIONS.map((version) => ({ groupVersion: `${SUBRESOURCES_GROUP}/${version}`, version }));
  return { kind: 'APIGroup', apiVersion: 'v1', name: SUBRESOURCES_GROUP, versions, preferredVersion: versions[0] };
}

/** GET /apis */
export function groupList(): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [group()] };
}

/** GET /apis/subresources.kubevirt.io/VERSION/version; the names of the fields are those that virtctl prints. */
export function kubeVirtVersionInfo(version: string): object {
  const { platform, arch, version: runtime } = process;
  return {
    gitVersion: version,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: `node ${runtime}`,
    compiler: 'v8',
    platform: `${platform}/${arch === 'x64' ? 'amd64' : arch}`,
  };
}
