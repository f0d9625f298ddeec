/** The security context of one container. Pure. */
import type { Container, Pod, SecurityContext } from '../../../api/core/pod.ts';

/** What holds for this container: its own words before those of its Pod. */
export function securityOf({ spec }: Pod, { securityContext }: Container): SecurityContext {
  return { ...spec.securityContext, ...securityContext };
}
