/** What the installation says of every machine, for the launcher: it is no part of the instance. */

export type MachineSettings = {
  /** What the guest reads about its maker. */
  readonly smbios?: Readonly<Partial<Record<'manufacturer' | 'product' | 'version' | 'sku' | 'family', string>>> | undefined;
  /** How often the guest is asked about its memory: 0 is never, and every ten seconds when not given. */
  readonly balloonStatsSeconds?: number | undefined;
  /** The guest does not tell which pages it has free. */
  readonly isFreePageReportingOff?: boolean | undefined;
  /** An instance may ask for a launcher that fails, for trying what follows. */
  readonly mayFailFast?: boolean | undefined;
};
