/** How much components say, as the KubeVirt object has it: numbers from 0 to 9, of which ours know two levels. Pure. */
import type { ClusterConfiguration } from './cluster-configuration.ts';

/** From here on everything is said; 2 is the default, and what is said without being asked. */
export const VERBOSE = 3;

export const DEFAULT_VERBOSITY = 2;

/** The components and what the object calls them. */
export const VERBOSITY_FIELDS = {
  'virt-api': 'virtAPI',
  'virt-controller': 'virtController',
  'virt-handler': 'virtHandler',
  'virt-launcher': 'virtLauncher',
  'virt-operator': 'virtOperator',
} as const;

/** Whether a component is to say everything; that of a node goes first. */
export function isVerbose({ logVerbosity }: ClusterConfiguration, component: string, node?: string): boolean {
  const field = Object.entries(VERBOSITY_FIELDS).find(([name]) => name === component)?.[1];
  const ofNode = node === undefined ? undefined : logVerbosity.nodeVerbosity?.[node];
  return (ofNode ?? (field && logVerbosity[field]) ?? DEFAULT_VERBOSITY) >= VERBOSE;
}
