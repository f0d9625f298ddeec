/** The object as YAML: looked at, changed, checked by the server while one types, and saved after its changes were seen. */
import { useState } from 'preact/hooks';
import { parse, stringify } from 'yaml';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { KubeObject } from '../api/meta.ts';
import { pathOf } from '../api/resource.ts';
import { isApiError } from '../base/errors.ts';
import { editedObject, isChangedByOthers, onto, shownObject } from './derive-edited-yaml.ts';
import type { Machine } from './derive-machines.ts';
import { DiffDialog } from './diff-dialog.tsx';
import { useSession } from './hooks.ts';
import { useDryRun } from './use-dry-run.ts';
import { useWork } from './use-work.ts';
import { YamlEditor } from './yaml-editor.tsx';

/** What somebody has typed, and the object that it was typed into. */
type Draft = { readonly text: string; readonly base: KubeObject };

export function YamlTab({ machine }: { readonly machine: Machine }) {
  const { client } = useSession();
  const { vm, vmi, namespace, name } = machine;
  const work = useWork();
  const [draft, setDraft] = useState<Draft>();
  const [isReviewed, setReviewed] = useState(false);
  const [said, setSaid] = useState('');
  const found = vm ?? vmi;
  const shown = found && shownObject(found);
  const base = draft?.base ?? shown;
  const before = stringify(base);
  const text = draft?.text ?? before;
  const edited = base && vm && draft && draft.text !== before ? read(draft.text, base) : undefined;
  const object = edited && 'object' in edited ? edited.object : undefined;
  const path = pathOf(VMS, { namespace, name });
  const isOld = draft !== undefined && vm !== undefined && draft.base.metadata.resourceVersion !== vm.metadata.resourceVersion;
  const isBehind = isOld && isChangedByOthers(draft.base, vm);
  // others may have written meanwhile: what counts is whether ours is right on what is there now
  const sent = object && isOld && shown ? onto(shown, { base: draft.base, mine: object }) : object;
  const { refusal, isCurrent } = useDryRun(sent && { method: 'PUT', path, body: JSON.stringify(sent) });
  const type = (next: string) => {
    setSaid('');
    if (next !== before || draft) setDraft({ text: next, base: draft?.base ?? (shown as KubeObject) }); // there is one where there is an editor
  };
  const save = () =>
    work.run(async () => {
      try {
        await (
          await client.request(path, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) })
        ).body?.cancel();
      } catch (error) {
        if (isApiError(error, 'Conflict')) setReviewed(false);
        throw error;
      }
      setReviewed(false);
      setDraft(undefined);
      setSaid('Saved.');
    });
  const rebase = () => {
    if (shown && object && draft) setDraft({ base: shown, text: stringify(onto(shown, { base: draft.base, mine: object })) });
  };
  if (!shown) return null;
  const wrong = edited && 'why' in edited ? edited.why : refusal;
  return (
    <section class="yaml" aria-label={`YAML of ${name}`}>
      <p class="buttons">
        <button type="button" class="primary" disabled={!object || work.isBusy || isBehind} onClick={() => setReviewed(true)}>
          Review and save
        </button>
        <button type="button" disabled={!draft} onClick={() => setDraft(undefined)}>
          Discard
        </button>
        <span role="status" class="faint">
          {said || (object && (!isCurrent ? 'Asking the server…' : wrong === undefined ? 'The server would take it.' : ''))}
        </span>
      </p>
      {object && isBehind && <Conflict theirs={stringify(shown)} before={before} rebase={rebase} />}
      {(work.error ?? wrong) && (
        <p class="trouble" role="alert">
          {work.error ?? wrong}
        </p>
      )}
      <YamlEditor text={text} label={`YAML of ${name}`} kind={shown.kind} isReadOnly={!vm} change={type} />
      <p class="faint">
        Ctrl+Space says what can stand here. The same in a terminal:{' '}
        <code>
          kubectl edit {vm ? 'vm' : 'vmi'} {name} -n {namespace}
        </code>
      </p>
      {isReviewed && object && (
        <DiffDialog
          {...{ before, after: text, work, confirm: save, close: () => setReviewed(false) }}
          title={`Change ${name}?`}
          command={`kubectl replace -n ${namespace} -f ${name}.yaml`}
        />
      )}
    </section>
  );
}

/** Somebody else has changed the object since: what, and how to go on. */
function Conflict({ theirs, before, rebase }: { readonly theirs: string; readonly before: string; rebase(): void }) {
  const [isShown, setShown] = useState(false);
  return (
    <div class="moving" role="status">
      It was changed by somebody else since you began.{' '}
      <button type="button" onClick={() => setShown(true)}>
        Show their changes
      </button>{' '}
      <button type="button" onClick={rebase}>
        Put mine on top
      </button>
      {isShown && <DiffDialog title="What others changed" before={before} after={theirs} close={() => setShown(false)} />}
    </div>
  );
}

function read(text: string, base: KubeObject): ReturnType<typeof editedObject> {
  try {
    return editedObject(parse(text), base);
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}
