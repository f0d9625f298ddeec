/** Commands in the guest through its agent: no login, no network, one line at a time. */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExecResult } from '../api/handler/answers.ts';
import { vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import { putSubresource } from '../sdk/machine-actions.ts';
import type { Machine } from './derive-machines.ts';
import { commandOfLine, FIRST_FOLDER, type Ran, readRan, withRan } from './derive-shell.ts';
import { where } from './derive-where.ts';
import { useSession } from './hooks.ts';
import { useWork } from './use-work.ts';

const SECONDS = 60;

export function ShellPart({ machine }: { readonly machine: Machine }) {
  const { client } = useSession();
  const { namespace, name, vmi } = machine;
  const [ran, setRan] = useState<readonly Ran[]>([]);
  const [folder, setFolder] = useState(FIRST_FOLDER);
  const [line, setLine] = useState('');
  const [back, setBack] = useState(0);
  const work = useWork();
  const input = useRef<HTMLInputElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const refusal = vmi ? vmiRefusalOf('exec', vmi)?.message : 'the machine does not run';
  useEffect(() => input.current?.focus(), [refusal]);
  useEffect(() => place.current?.scrollTo(0, place.current.scrollHeight), [ran]);
  if (refusal !== undefined)
    return (
      <p>
        No shell: {refusal}. It takes <code>qemu-guest-agent</code> in the guest, and opens here by itself.
      </p>
    );

  const submit = (event: Event) => {
    event.preventDefault();
    if (work.isBusy || line.trim() === '') return;
    void work.run(async () => {
      const to = { resource: 'virtualmachineinstances', verb: 'exec' } as const;
      const body = { command: commandOfLine(line, folder), timeoutSeconds: SECONDS };
      const response = await putSubresource({ client, namespace, name }, to, body);
      const { ran: next, next: at } = readRan({ line, folder }, (await response.json()) as ExecResult); // virt-handler makes it
      setRan((before) => withRan(before, next));
      setFolder(at);
      setLine('');
      setBack(0);
    });
  };
  /** Lines of before, as shells have them. */
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = Math.min(Math.max(back + step, 0), ran.length);
    setBack(next);
    setLine(ran.at(-next)?.line ?? '');
    if (next === 0) setLine('');
  };
  return (
    <section class="console shell" aria-label={`Shell of ${name}`}>
      <p class="faint">
        Each line is run by the guest's agent, as the user that the agent runs as; programs that ask back, or take longer than {SECONDS}{' '}
        seconds, need the serial console. In a terminal:{' '}
        <code>
          virtctl exec {name}
          {where(namespace)} -- COMMAND
        </code>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else that keys could reach */}
      <div class="log" ref={place} tabIndex={0} role="log" aria-label={`What ran in ${name}`}>
        {ran.map((each, index) => (
          <RanLine key={`${index}${each.line}`} {...each} />
        ))}
      </div>
      {work.error && (
        <p class="trouble" role="alert">
          {work.error}
        </p>
      )}
      <form class="prompt" onSubmit={submit}>
        <label for="line" class="folder">
          {folder} $
        </label>
        <input
          id="line"
          class="line"
          ref={input}
          value={line}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          readOnly={work.isBusy}
          onInput={(event) => setLine(event.currentTarget.value)}
          onKeyDown={pressed}
        />
        <button type="submit" disabled={work.isBusy}>
          {work.isBusy ? 'Runs…' : 'Run'}
        </button>
      </form>
    </section>
  );
}

function RanLine({ folder, line, output, errors, ending }: Ran) {
  return (
    <div class="ran">
      <strong>
        {folder} $ {line}
      </strong>
      {output !== '' && <pre>{output}</pre>}
      {errors !== '' && <pre class="errors">{errors}</pre>}
      {ending !== undefined && <span class="faint">{ending}</span>}
    </div>
  );
}
