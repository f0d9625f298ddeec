/** The guest's host name, apart from the schemas: the launcher asks for it, and loading them would double the time it takes to start. */
type Named = { readonly metadata: { readonly name: string }; readonly spec: { readonly hostname?: string } };

/** The name the guest is told: spec.hostname, or the instance's name up to the first dot. Same rule as `hostnameOf`, see the test. */
export function guestHostname({ metadata, spec }: Named): string {
  const name = spec.hostname || metadata.name.split('.')[0] || '';
  return name.slice(0, 63).replace(/-+$/, '');
}
