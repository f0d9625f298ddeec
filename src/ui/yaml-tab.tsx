/** The object as YAML: looked at, changed, and saved after the server has checked it. */
import { useState } from 'preact/hooks';
import { parse, stringify } from 'yaml';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { pathOf } from '../api/resource.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';
import { useWork } from './use-work.ts';

export function YamlTab({ machine }: { readonly machine: Machine }) {
  const { client } = useSession();
  const work = useWork();
  const [draft, setDraft] = useState<string>();
  const [said, setSaid] = useState('');
  const text = stringify(machine.vm ?? machine.vmi);
  const send = async (isDryRun: boolean) => {
    setSaid('');
    const object = parse(draft ?? text) as VirtualMachine;
    const path = `${pathOf(VMS, { namespace: machine.namespace, name: machine.name })}${isDryRun ? '?dryRun=All' : ''}`;
    await client.request(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(object) });
    setSaid(isDryRun ? 'The server would take it.' : 'Saved.');
    if (!isDryRun) setDraft(undefined);
  };
  const isChanged = draft !== undefined && draft !== text;
  return (
    <section class="yaml" aria-label={`YAML of ${machine.name}`}>
      <p class="buttons">
        <button type="button" disabled={!isChanged || work.isBusy} onClick={() => work.run(() => send(true))}>
          Check
        </button>
        <button type="button" class="primary" disabled={!isChanged || work.isBusy} onClick={() => work.run(() => send(false))}>
          Save
        </button>
        <button type="button" disabled={!isChanged} onClick={() => setDraft(undefined)}>
          Discard
        </button>
        <span role="status">{said}</span>
      </p>
      {work.error && (
        <p class="trouble" role="alert">
          {work.error}
        </p>
      )}
      <textarea
        aria-label="YAML"
        spellcheck={false}
        readOnly={!machine.vm}
        value={draft ?? text}
        onInput={(event) => setDraft(event.currentTarget.value)}
      />
      <p class="faint">
        The same in a terminal:{' '}
        <code>
          kubectl edit {machine.vm ? 'vm' : 'vmi'} {machine.name} -n {machine.namespace}
        </code>
      </p>
    </section>
  );
}
