/** The schema of a VirtualMachineClone. */
import { list, mapOf, object, oneOf, optional, text, time } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';

const referenceSchema = (description: string, kinds: string) =>
  object(description, {
    apiGroup: optional(text('kubevirt.io, or snapshot.kubevirt.io for a snapshot.')),
    kind: text(kinds),
    name: text('Its name, in the same namespace.'),
  });

const filtersSchema = (what: string) =>
  optional(
    list(
      `Which ${what} the new machine has: regular expressions; one that begins with ! takes away. All when not given.`,
      text('A filter.'),
    ),
  );

export const specSchema = object('Which machine is to be there twice. It never changes.', {
  source: referenceSchema('What it begins as.', 'VirtualMachine or VirtualMachineSnapshot.'),
  target: optional(referenceSchema('The new machine; its name is made up when not given.', 'VirtualMachine.')),
  labelFilters: filtersSchema('labels'),
  annotationFilters: filtersSchema('annotations'),
  template: optional(
    object('The same for its template.', { labelFilters: filtersSchema('labels'), annotationFilters: filtersSchema('annotations') }),
  ),
  newMacAddresses: optional(mapOf('Addresses by interface; the others get new ones.', text('An address.'))),
  volumeNamePolicy: optional(
    oneOf('How new PVCs are called: restore-UID-VOLUME, which it is when not given, or TARGET-VOLUME.', [
      'RandomizeNames',
      'PrefixTargetName',
    ]),
  ),
  newSMBiosSerial: optional(text('The serial number; none when not given.')),
});

export const statusSchema = object('How far it is. Written by our components alone.', {
  phase: optional(text('SnapshotInProgress, RestoreInProgress, CreatingTargetVM, Succeeded or Failed.')),
  creationTime: optional(time('When it was over.')),
  snapshotName: optional(text('The snapshot that it is made from, while there is one.')),
  restoreName: optional(text('The VirtualMachineRestore that makes it, while there is one.')),
  targetName: optional(text('The new machine.')),
  conditions: optional(conditionsSchema),
});
