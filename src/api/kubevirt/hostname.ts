/** The name of a guest. Apart from its kind, because every guest that starts needs it, and nothing else of the kind. */

/** What a host name is made from. */
type Named = { readonly metadata: { readonly name: string }; readonly spec: { readonly hostname?: string } };

/** The name the guest is told: spec.hostname, or the instance's name up to the first dot. */
export function hostnameOf({ metadata, spec }: Named): string {
  const name = spec.hostname || metadata.name.split('.')[0] || '';
  return name.slice(0, 63).replace(/-+$/, ''); // a cut may leave a dash at the end, which no host name may have
}
