/** The event that tells which presets an instance overrides; admission has noted them on the instance, and cannot record events of what is not there yet. */
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_OVERRIDDEN_PRESETS } from '../../api/kubevirt/kinds/vmi-preset.ts';
import type { Action } from '../../reconcile/decision.ts';

/** Anybody may have written the note. */
const LONGEST_NOTE = 1_000;

/** No action for an instance that overrides none. */
export function overrideEvent({ metadata }: VirtualMachineInstance): Action[] {
  const note = metadata.annotations?.[ANNOTATION_OVERRIDDEN_PRESETS]?.slice(0, LONGEST_NOTE);
  if (!note) return [];
  const message = `The instance has its own values in the place of those of VirtualMachineInstancePresets: ${note}`;
  return [{ do: 'record', because: 'presets are overridden', event: { type: 'Normal', reason: 'Override', message } }];
}
