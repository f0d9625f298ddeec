/** The remaining devices, and the threads that serve disks. */
import { invalidCause, requiredCause, unsupportedCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';

export function validateDevices({ domain }: CheckedSpec, path: string): StatusCause[] {
  const { inputs = [], sound, video, autoattachGraphicsDevice, panicDevices = [] } = domain?.devices ?? {};
  const at = `${path}.domain.devices`;
  const causes: StatusCause[] = [];
  inputs.forEach(({ type, bus }, index) => {
    if (bus && bus !== 'usb' && bus !== 'virtio') causes.push(unsupportedCause(`${at}.inputs[${index}].bus`, bus, ['usb', 'virtio']));
    if (type && type !== 'tablet') causes.push(unsupportedCause(`${at}.inputs[${index}].type`, type, ['tablet']));
  });
  if (sound && !sound.name) causes.push(requiredCause(`${at}.sound.name`));
  if (sound?.model && !['ich9', 'ac97'].includes(sound.model))
    causes.push(unsupportedCause(`${at}.sound.model`, sound.model, ['ich9', 'ac97']));
  if (video && autoattachGraphicsDevice === false)
    causes.push(invalidCause(`${at}.video`, video.type, 'there is no graphics device to choose while autoattachGraphicsDevice is false'));
  panicDevices.forEach(({ model }, index) => {
    if (!model) causes.push(requiredCause(`${at}.panicDevices[${index}].model`));
  });
  if (domain?.ioThreadsPolicy === 'supplementalPool' && !((domain.ioThreads?.supplementalPoolThreadCount ?? 0) > 0))
    causes.push(requiredCause(`${path}.domain.ioThreads.supplementalPoolThreadCount`, 'a pool needs a number of threads above 0'));
  return causes;
}
