/** A DataVolume for tests. */
import type { DataVolume, DataVolumePhase } from '../../api/kubevirt/kinds/data-volume.ts';

/** A DataVolume that is this far; `reason` is why its Pod is not at work. */
export function dataVolume(phase: DataVolumePhase | undefined, reason?: 'Error' | 'ImagePullFailed'): DataVolume {
  const conditions = reason ? [{ type: 'Running', status: 'False' as const, reason, message: 'error[DIGEST_MISMATCH]: wrong' }] : [];
  return {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { name: 'root', namespace: 'default', uid: 'dv-1' },
    spec: { source: { http: { url: 'https://disks.example.com/x' } }, storage: {} },
    ...(phase && { status: { phase, conditions } }),
  };
}
