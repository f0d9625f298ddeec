/** What a machine is set to: changed here after the server has checked it, with what takes effect at once and what waits for a restart. */

import { useState } from 'preact/hooks';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { pathOf } from '../api/resource.ts';
import { act } from './act.ts';
import { commandOf } from './derive-actions.ts';
import { deriveConfiguration, type Setting, type SettingState } from './derive-configuration.ts';
import { type Drafts, derivePatch, isEditable, messageAt, patchCommand } from './derive-configuration-change.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';
import { useDryRun } from './use-dry-run.ts';
import { useWork } from './use-work.ts';

const CHOICES = {
  runStrategy: ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once'],
  evictionStrategy: ['', 'None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External'],
} as const;
const MERGE_PATCH = 'application/merge-patch+json';
const EFFECTS: Readonly<Record<SettingState, string>> = {
  live: 'A change has its effect at once',
  'next start': 'A change is there at the next start',
  'needs restart': 'The guest has this; a change waits for a restart',
  pending: 'Changed, and the running guest does not have it yet',
};

export function ConfigurationTab({ machine }: { readonly machine: Machine }) {
  const { client } = useSession();
  const { vm, vmi, namespace, name } = machine;
  const [drafts, setDrafts] = useState<Drafts>({});
  const work = useWork();
  const settings = vm ? deriveConfiguration(vm, vmi) : [];
  const patch = vm && derivePatch(vm, settings, drafts);
  const path = pathOf(VMS, { namespace, name });
  const body = patch && JSON.stringify(patch);
  const { refusal, causes, isCurrent } = useDryRun(
    body === undefined ? undefined : { method: 'PATCH', path, contentType: MERGE_PATCH, body },
  );
  if (!vm) return <p>This instance has no VirtualMachine: it is as it was started, and cannot be changed.</p>;
  const isPending = settings.some(({ state }) => state === 'pending');
  const unplaced = refusal !== undefined && !settings.some(({ path: at }) => messageAt(causes, at) !== undefined);
  const save = () =>
    work.run(async () => {
      await client.patch(VMS, { namespace, name }, patch);
      setDrafts({});
    });
  return (
    <section class="configuration" aria-label={`Configuration of ${name}`}>
      {isPending && (
        <p class="moving" role="status">
          Some of this waits for a restart.{' '}
          <button type="button" aria-disabled={work.isBusy} onClick={() => work.run(() => act(client, 'restart', machine))}>
            Restart now
          </button>{' '}
          <code>{commandOf('restart', machine)}</code>
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {settings.map((setting) => (
            <SettingRow
              key={`${setting.id}${setting.path}`}
              setting={setting}
              draft={setting.id === 'other' ? undefined : drafts[setting.id]}
              message={messageAt(causes, setting.path)}
              change={(text) => setDrafts((before) => ({ ...before, [setting.id]: text }))}
            />
          ))}
        </tbody>
      </table>
      {patch && (
        <footer class="changes">
          <p class="faint">
            The same in a terminal: <code>{patchCommand(vm, patch)}</code>
          </p>
          {(work.error ?? (unplaced ? refusal : undefined)) && (
            <p class="trouble" role="alert">
              {work.error ?? refusal}
            </p>
          )}
          <p class="buttons">
            <button type="button" onClick={() => setDrafts({})}>
              Discard
            </button>
            <button type="button" class="primary" disabled={work.isBusy || !isCurrent || refusal !== undefined} onClick={save}>
              Save
            </button>
            <span role="status" class="faint">
              {!isCurrent ? 'Asking the server…' : refusal === undefined ? 'The server would take it.' : 'The server would refuse it.'}
            </span>
          </p>
        </footer>
      )}
    </section>
  );
}

type RowProps = {
  readonly setting: Setting;
  readonly draft: string | undefined;
  readonly message: string | undefined;
  change(text: string): void;
};

function SettingRow({ setting, draft, message, change }: RowProps) {
  const { id, label, wanted, running, state } = setting;
  const fieldId = `setting-${id}`;
  const messageId = `${fieldId}-message`;
  return (
    <tr>
      <th scope="row">{isEditable(setting) ? <label for={fieldId}>{label}</label> : label}</th>
      <td>
        {isEditable(setting) ? (
          <SettingField {...{ setting, fieldId, messageId, change, isWrong: message !== undefined }} text={draft ?? wanted} />
        ) : (
          <span class="fixed">{wanted || '–'}</span>
        )}
        {running !== undefined && <span class="faint block">the running guest has: {running || 'none'}</span>}
        {message !== undefined && draft !== undefined && (
          <span class="trouble" role="alert" id={messageId}>
            {message}
          </span>
        )}
      </td>
      <td>
        <span class={`badge ${state.replace(' ', '-')}`} title={EFFECTS[state]}>
          {state}
        </span>
      </td>
    </tr>
  );
}

type FieldProps = {
  readonly setting: Setting;
  readonly fieldId: string;
  readonly messageId: string;
  readonly text: string;
  readonly isWrong: boolean;
  change(text: string): void;
};

function SettingField({ setting: { id }, fieldId, messageId, text, isWrong, change }: FieldProps) {
  const shared = { id: fieldId, value: text, 'aria-invalid': isWrong, 'aria-describedby': isWrong ? messageId : undefined };
  if (id === 'runStrategy' || id === 'evictionStrategy')
    return (
      <select {...shared} onChange={(event) => change(event.currentTarget.value)}>
        {CHOICES[id].map((word) => (
          <option key={word} value={word}>
            {word || 'as the cluster says'}
          </option>
        ))}
      </select>
    );
  if (id === 'cloudInit')
    return <textarea {...shared} rows={text === '' ? 2 : 8} spellcheck={false} onInput={(event) => change(event.currentTarget.value)} />;
  const isNumber = id === 'cpus' || id === 'gracePeriod';
  return <input {...shared} inputMode={isNumber ? 'numeric' : 'text'} onInput={(event) => change(event.currentTarget.value.trimStart())} />;
}
