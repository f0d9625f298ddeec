/** Every collection that KubeVirt publishes and that scripts clean up by a DELETE, as they write it; on both kinds of cluster. */
type Collection = { readonly path: string; readonly plural: string; readonly isNamespaced: boolean };

const IN_NAMESPACES: Readonly<Record<string, readonly string[]>> = {
  'kubevirt.io/v1': [
    'virtualmachines',
    'virtualmachineinstances',
    'virtualmachineinstancereplicasets',
    'virtualmachineinstancemigrations',
    'virtualmachineinstancepresets',
  ],
  'cdi.kubevirt.io/v1beta1': ['datavolumes'],
  'pool.kubevirt.io/v1beta1': ['virtualmachinepools'],
  'clone.kubevirt.io/v1beta1': ['virtualmachineclones'],
  'snapshot.kubevirt.io/v1beta1': ['virtualmachinesnapshots', 'virtualmachinesnapshotcontents', 'virtualmachinerestores'],
  'export.kubevirt.io/v1': ['virtualmachineexports'],
  'backup.kubevirt.io/v1alpha1': ['virtualmachinebackups', 'virtualmachinebackuptrackers'],
  'instancetype.kubevirt.io/v1beta1': ['virtualmachineinstancetypes', 'virtualmachinepreferences'],
};
const OF_CLUSTER: Readonly<Record<string, readonly string[]>> = {
  'cdi.kubevirt.io/v1beta1': ['cdiconfigs'],
  'migrations.kubevirt.io/v1alpha1': ['migrationpolicies'],
  'instancetype.kubevirt.io/v1beta1': ['virtualmachineclusterinstancetypes', 'virtualmachineclusterpreferences'],
};

/** In a namespace, or in none for kinds of the whole cluster. */
export function publishedCollections(namespace: string): Collection[] {
  const flat = (table: typeof IN_NAMESPACES, place: string, isNamespaced: boolean) =>
    Object.entries(table).flatMap(([version, plurals]) =>
      plurals.map((plural) => ({ path: `/apis/${version}/${place}${plural}`, plural, isNamespaced })),
    );
  return [...flat(IN_NAMESPACES, `namespaces/${namespace}/`, true), ...flat(OF_CLUSTER, '', false)];
}
