/** The Pod of vmctl that the tests of this folder speak of. */
import type { Pod } from '../api/core/pod.ts';
import type { ObjectMeta } from '../api/meta.ts';

/** Pod default/web-0 (uid pod-1) on node n1. */
export function vmctlPod(metadata: Partial<ObjectMeta> = {}, spec: Partial<Pod['spec']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'default', uid: 'pod-1', labels: { app: 'vmctl' }, ...metadata },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'vmctl', image: 'kubevirt-ts/vmctl', ports: [{ name: 'http', containerPort: 8080 }] }],
      ...spec,
    },
  };
}
