/** The configuration of an installation that nobody changes. */
import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../api/kubevirt/configuration/cluster-configuration.ts';
import type { FollowedConfiguration } from '../client/follow-configuration.ts';

export function fixedConfiguration(given: Partial<ClusterConfiguration> = {}): FollowedConfiguration {
  return { current: { ...DEFAULT_CONFIGURATION, ...given }, known: Promise.resolve(), onChange: () => {} };
}
