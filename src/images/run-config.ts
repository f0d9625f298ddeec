/** How an image wants to be run. */

/** What a runtime does with the image, in the words of its format. */
export type RunConfig = {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
  readonly StopSignal?: string;
  readonly Labels?: Readonly<Record<string, string>> | undefined;
};
