/** A time stamp as Kubernetes writes it: RFC 3339, whole seconds, UTC. */
export function timestamp(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
}
