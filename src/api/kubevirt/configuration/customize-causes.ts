/** What is wrong with `spec.customizeComponents` before any object is looked at: patches that are no JSON, flags that nobody has. Pure. */
import { invalidCause } from '../../../base/causes.ts';
import { messageOf, type StatusCause } from '../../../base/errors.ts';
import type { KubeVirt } from '../kinds/kubevirt.ts';

/** Of every component: how much it says, as in KubeVirt. */
const COMMON_FLAGS = ['v', 'host', 'health-port', 'metrics-port'] as const;

/** Whose flags each field has, and which there are. */
export const FLAG_OWNERS = [
  { field: 'api', component: 'virt-api', flags: [...COMMON_FLAGS, 'port'] },
  { field: 'controller', component: 'virt-controller', flags: [...COMMON_FLAGS, 'container-disks'] },
  { field: 'handler', component: 'virt-handler', flags: [...COMMON_FLAGS, 'port', 'kubelet-root', 'device-plugins'] },
] as const;

/** What a component has to know beside the flags of all of them, with their defaults. */
export type FlagsOf<Component extends (typeof FLAG_OWNERS)[number]['component']> = Readonly<
  Record<Exclude<Extract<(typeof FLAG_OWNERS)[number], { component: Component }>['flags'][number], (typeof COMMON_FLAGS)[number]>, string> &
    Record<string, string>
>;

export function customizeCauses({ customizeComponents: { patches = [], flags = {} } = {} }: KubeVirt['spec']): StatusCause[] {
  const at = 'spec.customizeComponents';
  return [
    ...patches.flatMap(({ patch }, index) => jsonCauses(`${at}.patches[${index}].patch`, patch)),
    ...FLAG_OWNERS.flatMap(({ field, component, flags: known }) =>
      Object.keys(flags[field] ?? {})
        .filter((name) => !known.some((each) => each === name))
        .map((name) => invalidCause(`${at}.flags.${field}`, name, `${component} has no such flag, it has ${known.join(', ')}`)),
    ),
  ];
}

function jsonCauses(field: string, text: string): StatusCause[] {
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    return [invalidCause(field, text.slice(0, 80), `must be JSON: ${messageOf(error)}`)];
  }
}
