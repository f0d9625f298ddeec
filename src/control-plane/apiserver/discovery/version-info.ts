/** What /version says: the release of Kubernetes whose API this is. Clients choose their own behaviour by it. */
import type { JsonObject } from '../../../base/json.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export function versionInfo(): JsonObject {
  return {
    major: '1',
    minor: '34',
    gitVersion: 'v1.34.2',
    gitCommit: 'kubevirt-ts',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'node',
    platform: `linux/${ARCHITECTURES[process.arch] ?? process.arch}`,
  };
}
