/** Waiting for other processes, which may be slow on a busy machine. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 20;

/** Asks again and again until the answer is yes; the error says what was there instead. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${PATIENCE_MS / 1000} s: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
