import { useState } from 'preact/hooks';

type Failable = { readonly error: string | undefined; run(work: () => Promise<unknown>): Promise<void>; readonly isBusy: boolean };

/** Work that a click begins: busy while it lasts, and what went wrong afterwards. */
export function useWork(): Failable {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  return {
    error,
    isBusy,
    async run(work) {
      setError(undefined);
      setBusy(true);
      try {
        await work();
      } catch (failure) {
        setError(failure instanceof Error ? failure.message : String(failure));
      } finally {
        setBusy(false);
      }
    },
  };
}
