import type { Tone } from './derive-machines.ts';

const SIGNS: Readonly<Record<Tone, string>> = { good: '●', busy: '◐', bad: '▲', off: '○' };

/** A state as a word with a sign: colour alone tells nothing to many. */
export function StatusWord({ status, tone }: { readonly status: string; readonly tone: Tone }) {
  return (
    <span class={`status ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> {status}
    </span>
  );
}
