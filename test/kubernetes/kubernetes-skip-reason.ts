/** Why there can be no real Kubernetes on this machine; false when there can. */
import { execFileSync } from 'node:child_process';

export function kubernetesSkipReason(): string | false {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'a real Kubernetes is built with Go, which is not installed';
  }
}
