/** How a command is called where something is wrong, and what it says then. Each has one; test/e2e/virtctl-bad-moments.test.ts tries them all. */

/** A command that talks to a cluster. */
export type ClusterBadMoments = {
  readonly needs: 'cluster';
  /** Behind the command: with the name of a machine, or of something else that it needs, that is not there. */
  readonly args: readonly string[];
  /** What it says then, behind its exit code; nothing for a command that needs no name. */
  readonly missing?: RegExp;
};

/** Any other command: what it says on a machine where there is nothing. */
export type LocalBadMoments = { readonly needs: 'nothing'; readonly args: readonly string[]; readonly expected: RegExp };

export type BadMoments = ClusterBadMoments | LocalBadMoments;

export const NOT_FOUND = /^3 error\[NotFound\]: .*no(body|where)/;

/** Of a command whose last word is the name of a machine. */
export function named(...args: string[]): ClusterBadMoments {
  return { needs: 'cluster', args: [...args, 'nobody'], missing: NOT_FOUND };
}
