/** Waiting in tests for something that other code is about to do, without sleeping a guessed time. */

/** Lets everything else run until the condition holds; fails after half a minute, which is long on a busy machine, too. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`waited 30 seconds for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** Lets everything that is ready to run do so: for asserting that nothing more happens. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
