/** The columns of classes and drivers: what Pods and volumes choose from. */
import type { JsonObject } from '../../../base/json.ts';
import { AGE, at, type Column, count, listAt, NAME, numberAt, orNone, sizeAt, text, textAt } from './column.ts';

const DEFAULT_CLASS = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export const CLASS_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  'storage.k8s.io/StorageClass': [
    { ...NAME, cell: (object) => `${textAt(object, 'metadata', 'name')}${isDefault(object) ? ' (default)' : ''}` },
    text('Provisioner', (object) => textAt(object, 'provisioner')),
    text('ReclaimPolicy', (object) => orNone(textAt(object, 'reclaimPolicy'), 'Delete')),
    text('VolumeBindingMode', (object) => orNone(textAt(object, 'volumeBindingMode'), 'Immediate')),
    text('AllowVolumeExpansion', (object) => String(at(object, 'allowVolumeExpansion') === true)),
    AGE,
  ],
  'storage.k8s.io/CSIDriver': [
    NAME,
    flag('AttachRequired', (driver) => at(driver, 'spec', 'attachRequired') !== false),
    flag('PodInfoOnMount', (driver) => at(driver, 'spec', 'podInfoOnMount') === true),
    flag('StorageCapacity', (driver) => at(driver, 'spec', 'storageCapacity') === true),
    text('TokenRequests', (driver) =>
      at(driver, 'spec', 'tokenRequests') === undefined
        ? '<unset>'
        : listAt(driver, 'spec', 'tokenRequests')
            .map((each) => textAt(each, 'audience'))
            .join(','),
    ),
    flag('RequiresRepublish', (driver) => at(driver, 'spec', 'requiresRepublish') === true),
    text('Modes', (driver) => {
      const modes = at(driver, 'spec', 'volumeLifecycleModes');
      return orNone(Array.isArray(modes) ? modes.map(String).join(',') : '');
    }),
    AGE,
  ],
  'storage.k8s.io/CSINode': [NAME, count('Drivers', (node) => sizeAt(node, 'spec', 'drivers')), AGE],
  'storage.k8s.io/VolumeAttachment': [
    NAME,
    text('Attacher', (object) => textAt(object, 'spec', 'attacher')),
    text('PV', (object) => textAt(object, 'spec', 'source', 'persistentVolumeName')),
    text('Node', (object) => textAt(object, 'spec', 'nodeName')),
    flag('Attached', (object) => at(object, 'status', 'attached') === true),
    AGE,
  ],
  'scheduling.k8s.io/PriorityClass': [
    NAME,
    count('Value', (object) => numberAt(object, 'value')),
    flag('Global-Default', (object) => at(object, 'globalDefault') === true),
    AGE,
    text('PreemptionPolicy', (object) => orNone(textAt(object, 'preemptionPolicy'), 'PreemptLowerPriority')),
  ],
  'node.k8s.io/RuntimeClass': [NAME, text('Handler', (object) => textAt(object, 'handler')), AGE],
};

function flag(name: string, cell: (object: JsonObject) => boolean): Column {
  return { name, type: 'boolean', priority: 0, cell };
}

function isDefault(object: JsonObject): boolean {
  return DEFAULT_CLASS.some((annotation) => textAt(object, 'metadata', 'annotations', annotation) === 'true');
}
