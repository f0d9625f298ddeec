/** Where a server behind an APIService learns by which certificates it knows the API server, and how it is told of the caller. */
import type { ConfigMap } from '../../api/core/configmap.ts';
import { FRONT_PROXY_NAME, type Pki } from '../../base/node/pki.ts';

/** The well-known ConfigMap, the same as on any cluster. */
export function requestHeaderTrust(pki: Pick<Pki, 'ca' | 'frontProxyCa'>): ConfigMap {
  const lists = {
    'requestheader-allowed-names': [FRONT_PROXY_NAME],
    'requestheader-username-headers': ['X-Remote-User'],
    'requestheader-group-headers': ['X-Remote-Group'],
    'requestheader-uid-headers': ['X-Remote-Uid'],
    'requestheader-extra-headers-prefix': ['X-Remote-Extra-'],
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: {
      'client-ca-file': pki.ca,
      'requestheader-client-ca-file': pki.frontProxyCa,
      ...Object.fromEntries(Object.entries(lists).map(([key, names]) => [key, JSON.stringify(names)])),
    },
  };
}
