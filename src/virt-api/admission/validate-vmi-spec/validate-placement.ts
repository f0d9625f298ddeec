/** Where the Pod may run, as far as the API server would refuse the Pod for it: better to hear of it here than never to get an instance. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { labelCauses } from '../validate-labels.ts';
import { validateAffinity } from './validate-affinity.ts';

/** 68 years; a Pod gets some seconds more, which must still be a number that everybody can count to. */
const LONGEST_GRACE = 2 ** 31 - 1;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validatePlacement(spec: VmiSpec, path: string): StatusCause[] {
  const { nodeSelector, tolerations = [], affinity, terminationGracePeriodSeconds } = spec;
  const causes = labelCauses(nodeSelector, `${path}.nodeSelector`);
  tolerations.forEach((toleration, index) => causes.push(...tolerationCauses(toleration, `${path}.tolerations[${index}]`)));
  causes.push(...validateAffinity(affinity, `${path}.affinity`));
  if (
    terminationGracePeriodSeconds !== undefined &&
    !(terminationGracePeriodSeconds >= 0 && terminationGracePeriodSeconds <= LONGEST_GRACE)
  )
    causes.push(
      invalidCause(`${path}.terminationGracePeriodSeconds`, terminationGracePeriodSeconds, `must be between 0 and ${LONGEST_GRACE}`),
    );
  return causes;
}

function tolerationCauses(toleration: unknown, at: string): StatusCause[] {
  if (!isObject(toleration)) return [invalidCause(at, toleration, 'must be an object')];
  const { key, operator = 'Equal', value, effect } = toleration;
  if (operator !== 'Exists' && operator !== 'Equal') return [unsupportedCause(`${at}.operator`, operator, ['Equal', 'Exists'])];
  const causes: StatusCause[] = [];
  if (!key && operator !== 'Exists') causes.push(invalidCause(`${at}.operator`, operator, 'operator must be Exists when `key` is empty'));
  if (value && operator === 'Exists') causes.push(invalidCause(`${at}.value`, value, "value must be empty when `operator` is 'Exists'"));
  if (effect && !EFFECTS.includes(String(effect))) causes.push(unsupportedCause(`${at}.effect`, effect, EFFECTS));
  return causes;
}
