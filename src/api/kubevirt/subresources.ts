/** The aggregated API of machines, as its clients and its server name it. Its paths are built in subresource-path.ts. */

export const SUBRESOURCES_GROUP = 'subresources.kubevirt.io';
/** The first is the one that clients use. */
export const SUBRESOURCE_VERSIONS = ['v1', 'v1alpha3'] as const;
/** What a WebSocket agrees on: bytes, and nothing around them. */
export const STREAM_SUBPROTOCOL = 'plain.kubevirt.io';

/** What has subresources in that group. */
export type VmResource =
  | 'persistentvolumeclaims'
  | 'virtualmachineexports'
  | 'virtualmachines'
  | 'virtualmachineinstances'
  | 'offlinevirtualmachines'
  | 'virtualmachineinstanceconfigs';
