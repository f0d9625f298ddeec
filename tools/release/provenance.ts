/** Where the files of a release come from: an in-toto statement with a SLSA provenance, without anything that differs between two builds. */
import type { FileDigest } from './sums.ts';

export type Origin = {
  /** The commit that was built. */
  readonly commit: string;
  /** Whether the tree was that commit, and nothing else. */
  readonly isClean: boolean;
  /** Of package-lock.json. */
  readonly lockSha256: string;
  readonly command: string;
  readonly builder: string;
  /** Programs that take part, with their versions. */
  readonly tools: Readonly<Record<string, string>>;
};

/** The statement about these files. */
export function provenanceOf(files: readonly FileDigest[], origin: Origin) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:kubevirt-ts:release:v1',
        externalParameters: { command: origin.command },
        internalParameters: { treeIsClean: origin.isClean },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: origin.commit } },
          { name: 'package-lock.json', digest: { sha256: origin.lockSha256 } },
        ],
      },
      runDetails: { builder: { id: origin.builder, version: origin.tools } },
    },
  } as const;
}
