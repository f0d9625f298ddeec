/** Calls of our subresources, as they should be: what they are called with is no kind of the API, and has no schema in a definition. */
import { UPLOAD_TOKENS } from '../../../src/api/importer/upload.ts';
import { SUBRESOURCE_VERSIONS, SUBRESOURCES_GROUP } from '../../../src/api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC, SUBRESOURCES } from '../../../src/api/kubevirt/subresources-table.ts';

export type Call = {
  readonly path: string;
  readonly methods: readonly string[];
  /** Bodies that are taken, or would be in another state of their object. */
  readonly bodies: readonly object[];
};

/** What is there all the time, a machine whose guest runs among it. */
export const RUNNING = 'running';

/** What KubeVirt publishes as an answer of 500: no fault, but a state of the machine in which this cannot be done. */
export const PUBLISHED_500 =
  /stop\/start already underway|VMI is not running but|No graphics devices are present|does not have guest agent connected|Cannot expand VM /;

/** In all of them, so that each meets what another one takes. */
const OPTIONS: readonly object[] = [
  {},
  { dryRun: ['All'] },
  { paused: true, discard: false },
  { gracePeriod: 3 },
  { gracePeriodSeconds: 0 },
  { claimName: 'claim' },
  { addedNodeSelector: { zone: 'a' } },
  { name: 'data', disk: { disk: { bus: 'scsi' }, serial: 'x' }, volumeSource: { persistentVolumeClaim: { claimName: 'claim' } } },
  { name: 'data', disk: { cdrom: { bus: 'sata' } }, volumeSource: { dataVolume: { name: 'claim' } }, dryRun: ['All'] },
  { name: 'data' },
  { evacuationNodeName: 'n1' },
  { unfreezeTimeout: '5m0s' },
  { command: ['true', 'x'], input: 'eA==', timeoutSeconds: 5 },
];
const QUERIES = ['', '?previous=true', '?instance=x', '?seconds=60', '?moveCursor=true', '?from=1&shared=true'];
const RESTS = ['', '/data/disk.img', '/data/piece?from=0&bytes=10', '/80/tcp', '/manifests/all'];

/** Of each version, and of each subresource in it. `machines` are manifests to be expanded. */
export function subresourceCalls(machines: readonly object[]): Call[] {
  const ours = SUBRESOURCE_VERSIONS.flatMap((version) => {
    const root = `/apis/${SUBRESOURCES_GROUP}/${version}/namespaces/default`;
    return [
      // As often as all others that change a machine: its body is a whole one.
      ...Array.from({ length: 20 }, () => ({ path: `${root}/${EXPAND_VM_SPEC.resource}`, methods: ['PUT'], bodies: machines })),
      ...SUBRESOURCES.flatMap(({ resource, subresource }) =>
        (resource === 'virtualmachineexports' ? RESTS : QUERIES).map((rest) => ({
          path: `${root}/${resource}/NAME/${subresource}${rest}`,
          methods: ['GET', 'PUT'],
          bodies: OPTIONS,
        })),
      ),
    ];
  });
  const { group, version, plural, kind } = UPLOAD_TOKENS;
  const token = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'x' }, spec: { pvcName: 'NAME' } };
  return [...ours, { path: `/apis/${group}/${version}/namespaces/default/${plural}`, methods: ['POST'], bodies: [token] }];
}
