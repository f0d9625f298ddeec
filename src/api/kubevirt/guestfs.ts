/** What an installation says of the image with tools for disks, as `virtctl guestfs` asks for it. */
export type GuestfsInfo = {
  readonly registry: string;
  readonly tag: string;
  readonly imagePrefix: string;
  readonly digest: string;
  /** The whole name, which goes before the parts. */
  readonly gsImage: string;
};

/** By this name without its registry KubeVirt's virtctl knows the image. */
export const TOOLS_IMAGE = 'libguestfs-tools';

/** What an installation that has this image answers. */
export function guestfsInfoOf(image: string): GuestfsInfo {
  return { registry: '', tag: '', imagePrefix: '', digest: '', gsImage: image };
}

/** The path of the question, below a version of the aggregated group. */
export const GUESTFS = 'guestfs';

/** The image that such an answer means; undefined when it names none. */
export function guestfsImageOf({ registry, tag, imagePrefix = '', digest, gsImage }: Partial<GuestfsInfo>): string | undefined {
  if (gsImage) return gsImage;
  const version = digest ? `@${digest}` : tag ? `:${tag}` : '';
  return registry && version ? `${registry}/${imagePrefix}${TOOLS_IMAGE}${version}` : undefined;
}
