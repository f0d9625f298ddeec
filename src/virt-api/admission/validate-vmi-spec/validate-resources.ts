/** Everything else that the Pod asks of its node: names and amounts that a Pod can have. Memory and processors have rules of their own. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { amountCauses } from './validate-memory.ts';

const OWN_RULES = ['memory', 'cpu'];
const NAME = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

export function validateResources({ domain }: VmiSpec, path: string): StatusCause[] {
  return (['requests', 'limits'] as const).flatMap((kind) =>
    Object.entries(domain.resources?.[kind] ?? {})
      .filter(([name]) => !OWN_RULES.includes(name))
      .flatMap(([name, amount]) => {
        const at = `${path}.domain.resources.${kind}`;
        if (!NAME.test(name))
          return [invalidCause(at, name.slice(0, 80), 'a resource is a name such as ephemeral-storage or example.com/gpu')];
        return amountCauses(`${at}[${name}]`, amount);
      }),
  );
}
