/** The remaining devices. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

export function validateDevices({ domain }: VmiSpec, path: string): StatusCause[] {
  const { sound, video, autoattachGraphicsDevice, panicDevices = [] } = domain.devices;
  const at = `${path}.domain.devices`;
  const causes: StatusCause[] = [];
  if (sound && !sound.name) causes.push(requiredCause(`${at}.sound.name`));
  if (video && autoattachGraphicsDevice === false)
    causes.push(invalidCause(`${at}.video`, video.type, 'there is no graphics device to choose while autoattachGraphicsDevice is false'));
  panicDevices.forEach(({ model }, index) => {
    if (!model) causes.push(requiredCause(`${at}.panicDevices[${index}].model`));
  });
  return causes;
}
