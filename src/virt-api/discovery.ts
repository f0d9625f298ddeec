/** What the aggregated group offers, as clients and the API server in front ask for it. */
import { UPLOAD_TOKENS } from '../api/importer/upload.ts';
import { GUESTFS, guestfsInfoOf } from '../api/kubevirt/guestfs.ts';
import { subresourceGroupPath } from '../api/kubevirt/subresource-path.ts';
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC, SUBRESOURCES } from '../api/kubevirt/subresources-table.ts';
import { ApiError } from '../base/errors.ts';
import { uploadDiscovery } from './upload/upload-proxy.ts';

/** Embedded: there is no registry that one could come from. */
const NO_TOOLS_IMAGE = 'this installation has no image with tools for disks: whoever asks has to name one';
const BASE = `/apis/${SUBRESOURCES_GROUP}`;

type Installation = {
  readonly version: string;
  /** With tools for disks. */
  readonly toolsImage?: string | undefined;
};

/** The answer to a question about the group itself; undefined for any other path. */
export function discoveryAnswer(pathname: string, { version, toolsImage }: Installation): Response | undefined {
  if (pathname === '/apis') return Response.json(groupList());
  const ofUploads = uploadDiscovery(pathname);
  if (ofUploads) return Response.json(ofUploads);
  if (pathname === BASE) return Response.json(group());
  for (const each of SUBRESOURCE_VERSIONS) {
    if (pathname === `${BASE}/${each}`) return Response.json(resourceList(each));
    if (pathname === subresourceGroupPath(GUESTFS, each)) return guestfsAnswer(toolsImage);
    if (pathname === subresourceGroupPath('version', each)) return Response.json(kubeVirtVersionInfo(version));
  }
  return undefined;
}

/** GET /apis/subresources.kubevirt.io/VERSION/guestfs */
function guestfsAnswer(image: string | undefined): Response {
  if (!image) throw new ApiError('BadRequest', NO_TOOLS_IMAGE);
  return Response.json(guestfsInfoOf(image));
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
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [group(), uploadDiscovery(`/apis/${UPLOAD_TOKENS.group}`)] };
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
