/** What a catalogue of images says: short names, where the disks behind them are published, and what a machine made from one needs. */

export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Where the disk of one architecture is: at an address, or as an image in a registry or in the store of this machine. */
export type CatalogueSource =
  | {
      readonly url: string;
      /** `sha256:HEX` or `sha512:HEX` of the file as it is published, before anything is unpacked. */
      readonly digest?: string;
      /** The address of a file in which its publisher lists such digests. */
      readonly checksums?: string;
    }
  | { readonly image: string };

export type CatalogueEntry = {
  readonly description: string;
  readonly sources: Readonly<Partial<Record<Architecture, CatalogueSource>>>;
  /** Who logs in. */
  readonly user?: string;
  /** What a machine of it gets when nothing else is asked for. */
  readonly memory?: string;
  readonly disk?: string;
  /** Whether it obeys #cloud-config: only then it can be given a user and a key. */
  readonly cloudInit: boolean;
  /** Whether the guest agent is in it and starts. */
  readonly agent: boolean;
  /** For people: how to log in. */
  readonly login?: string;
};

/** One more name for another entry. */
export type CatalogueAlias = { readonly alias: string };

export type CatalogueFile = {
  readonly images: ReadonlyMap<string, CatalogueEntry | CatalogueAlias>;
  /** Addresses of other catalogues; in the file of a user only. */
  readonly catalogues: readonly string[];
  /** How much of what was downloaded is kept. */
  readonly cacheBytes: number;
};

/** The name of the architecture that Node runs on, as images have it. */
export function architectureOf(nodeArch: string): string {
  return nodeArch === 'x64' ? 'amd64' : nodeArch;
}
