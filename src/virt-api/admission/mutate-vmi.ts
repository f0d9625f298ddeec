/** What becomes of an instance on its way into the store: a new one is given what its presets say, then what its author left open. */
import { applyPresets, type Overridden } from '../../api/kubevirt/preset/apply-presets.ts';
import { invalidCause } from '../../base/causes.ts';
import { type AdmissionRequest, isComponent, type ReviewedObject } from './admission-request.ts';
import type { Completion, Given } from './completion.ts';
import { decideMutation } from './decide-mutation.ts';

export async function mutateVmi(request: AdmissionRequest & { readonly object: ReviewedObject }, given: Given): Promise<Completion> {
  const { operation, object: sent, oldObject, username } = request;
  const complete = { ...given, operation, sent, oldObject, isComponent: isComponent(username) };
  if (operation !== 'CREATE') return { patch: decideMutation({ ...complete, object: sent }), warnings: [] };
  const outcome = applyPresets(sent, await given.presets.in(sent.metadata.namespace ?? ''));
  if ('conflicts' in outcome)
    return {
      causes: outcome.conflicts.map(({ path, presets: [one, other] }) =>
        invalidCause(`spec.domain.${path}`, undefined, `VirtualMachineInstancePresets ${one} and ${other} say different things of it`),
      ),
    };
  return { patch: decideMutation({ ...complete, object: outcome.object }), warnings: outcome.overridden.flatMap(warningsOf) };
}

function warningsOf({ preset, paths }: Overridden): string[] {
  return paths.map(
    (path) => `spec.domain.${path}: the instance has a value of its own in the place of that of VirtualMachineInstancePreset ${preset}`,
  );
}
