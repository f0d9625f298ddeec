/** The oldest Kubernetes on which everything that we ask for is there. */
const OLDEST = { major: 1, minor: 28 } as const;

/** What is wrong with this version (`v1.34.1`), and what to do about it; undefined when nothing is. */
export function kubernetesProblem(gitVersion: string): string | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  const isNewEnough = Number(major) > OLDEST.major || (Number(major) === OLDEST.major && Number(minor) >= OLDEST.minor);
  if (isNewEnough) return undefined;
  return `this cluster runs Kubernetes ${gitVersion}; ${OLDEST.major}.${OLDEST.minor} is the oldest that is supported: upgrade the cluster`;
}
