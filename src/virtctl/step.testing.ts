/** A step of test/e2e/every-command.test.ts that is kept with its command: what the command does with a real guest. */

/** A cluster of its own with a guest named `guest`, which has an agent. */
export type World = {
  /** Calls virtctl, which must succeed, and returns what it printed. */
  say(...args: string[]): Promise<string>;
  /** A path in a folder of the test. */
  file(name: string): string;
  /** Runs a script in the guest. */
  inGuest(script: string): Promise<string>;
  /** Waits until the machine is in this state. */
  status(wanted: string): Promise<void>;
  readonly cluster: {
    /** The same as `say`, whatever comes of it. */
    virtctl(args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
    /** A field of an object, as a JSON path. */
    field(kind: string, name: string, path: string): Promise<string>;
    /** Waits until a field has a value. */
    until(what: string, path: string, value: string): Promise<void>;
    pid(): number;
  };
};

export type Step = {
  /** The command whose step comes before; of several that say the same the first by name. */
  readonly after: string;
  readonly run: (world: World) => Promise<void>;
};
