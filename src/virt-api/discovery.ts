/** What the aggregated group offers, as clients and the API server in front ask for it. */
import { GUESTFS } from '../api/kubevirt/guestfs.ts';
import { subresourceGroupPath } from '../api/kubevirt/subresource-path.ts';
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC, SUBRESOURCES } from '../api/kubevirt/subresources-table.ts';
import { ApiError } from '../base/errors.ts';

/** What KubeVirt has in its place is an image that its makers publish; images of ours have a guest to run, and no tools for others' disks. */
const NO_TOOLS_IMAGE = 'this installation has no image with tools for disks: whoever asks has to name one';
const BASE = `/apis/${SUBRESOURCES_GROUP}`;

/** The answer to a question about the group itself; undefined for any other path. */
export function discoveryAnswer(pathname: string, version: string): Response | undefined {
  if (pathname === '/apis') return Response.json(groupList());
  if (pathname === BASE) return Response.json(group());
  for (const each of SUBRESOURCE_VERSIONS) {
    if (pathname === `${BASE}/${each}`) return Response.json(resourceList(each));
    if (pathname === subresourceGroupPath(GUESTFS, each)) throw new ApiError('BadRequest', NO_TOOLS_IMAGE);
    if (pathname === subresourceGroupPath('version', each)) return Response.json(kubeVirtVersionInfo(version));
  }
  return undefined;
}

/** GET /apis/subresources.kubevirt.io/VERSION */
function resourceList(version: string): object {
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
function group(): object {
  const versions = SUBRESOURCE_VERSIONS.map((version) => ({ groupVersion: `${SUBRESOURCES_GROUP}/${version}`, version }));
  return { kind: 'APIGroup', apiVersion: 'v1', name: SUBRESOURCES_GROUP, versions, preferredVersion: versions[0] };
}

/** GET /apis */
function groupList(): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [group()] };
}

/** GET /apis/subresources.kubevirt.io/VERSION/version; the names of the fields are those that virtctl prints. */
function kubeVirtVersionInfo(version: string): object {
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
