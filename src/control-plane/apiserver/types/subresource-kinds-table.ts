/** Subresources that speak another kind than their parent, and the verbs each one has. */
type Kind = { readonly group: string; readonly version: string; readonly kind: string };

const KINDS: Readonly<Record<string, Kind>> = {
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
  binding: { group: '', version: 'v1', kind: 'Binding' },
  proxy: { group: '', version: 'v1', kind: 'ServiceProxyOptions' },
  exec: { group: '', version: 'v1', kind: 'PodExecOptions' },
  attach: { group: '', version: 'v1', kind: 'PodAttachOptions' },
  portforward: { group: '', version: 'v1', kind: 'PodPortForwardOptions' },
};
const VERBS: Readonly<Record<string, readonly string[]>> = {
  status: ['get', 'patch', 'update'],
  scale: ['get', 'patch', 'update'],
  finalize: ['update'],
  log: ['get'],
  binding: ['create'],
  eviction: ['create'],
  token: ['create'],
  proxy: ['create', 'delete', 'get', 'patch', 'update'],
  exec: ['create', 'get'],
  attach: ['create', 'get'],
  portforward: ['create', 'get'],
  ephemeralcontainers: ['get', 'patch', 'update'],
};

/** The kind a subresource answers with, undefined when it is the parent's own. */
export function subresourceKind(name: string): Kind | undefined {
  return KINDS[name];
}

/** The verbs a subresource has, in discovery and on the wire. */
export function subresourceVerbs(name: string): readonly string[] {
  return VERBS[name] ?? [];
}
