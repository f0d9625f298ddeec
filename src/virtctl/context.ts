/** What the executable knows: the process it talks through and where things are. */
import type { CommandContext } from '@stricli/core';

export type Places = {
  /** $VIRT_HOME: everything that the embedded cluster keeps. */
  readonly home: string;
  /** $KUBEVIRT_CACHE: what can be made again. */
  readonly cache: string;
  /** This program, as a path. */
  readonly program: string;
  /** The program that is the embedded cluster. */
  readonly embeddedProgram: string;
  /** Folder with the manifests that come with the product. */
  readonly examples: string;
  /** Folder with the manifests of an installation. */
  readonly manifests: string;
  /** Folder with images of guests that came with the product; a clone has none. */
  readonly guests?: string | undefined;
  /** The file that says of which release this program is; a clone has none. */
  readonly releaseFile?: string | undefined;
  /** Folder with the web page, as it was built. */
  readonly page: string;
  /** The pages of the documentation, as they were built. */
  readonly docs: string;
  readonly version: string;
};

export type Context = CommandContext & Places & { readonly process: NodeJS.Process };
