/** A new machine: one choice has to be made, all else is filled in; form, manifest and command are views of one object, and each follows the others. */
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import { stringify } from 'yaml';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { pathOf } from '../api/resource.ts';
import { mayCreate } from './act.ts';
import { CopyButton } from './copy-button.tsx';
import { CreateForm } from './create-form.tsx';
import { deriveMachines } from './derive-machines.ts';
import { deriveCommand, deriveImages, deriveNewVm, type NewVm, SIZES } from './derive-new-vm.ts';
import { readManifest, withChoices } from './edited-manifest.ts';
import { go, useSession } from './hooks.ts';
import { useDryRun } from './use-dry-run.ts';
import { useWork } from './use-work.ts';

const YamlEditor = lazy(() => import('./yaml-editor.tsx').then(({ YamlEditor }) => ({ default: YamlEditor })));

/** Every embedded cluster has it; elsewhere it may not be there, and the machine says so. */
const KNOWN_IMAGES = ['localhost/guests/tiny'];
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

export function CreatePage() {
  const session = useSession();
  const work = useWork();
  const images = deriveImages(
    deriveMachines(session.vms.list(), session.vmis.list()).map(({ image }) => image),
    KNOWN_IMAGES,
  );
  const [text, setText] = useState(() =>
    stringify(
      deriveNewVm({
        namespace: session.namespace ?? session.info.namespace,
        name: randomName(),
        image: images[0] ?? '',
        ...SIZES.S,
        isStarted: true,
      }),
    ),
  );
  const [view, setView] = useState<'yaml' | 'command'>('yaml');
  const read = readManifest(text);
  const [last, setLast] = useState(read);
  useEffect(() => {
    if ('vm' in read) setLast(read);
  }, [text]);
  const shown = 'vm' in read ? read : last;
  const { namespace = '', name = '', isStarted = true } = 'choices' in shown ? shown.choices : {};
  const isForbidden = useForbiddenHere(namespace);
  const body = 'vm' in read ? JSON.stringify(read.vm) : undefined;
  const dryRun = useDryRun(
    body === undefined || namespace === '' || isForbidden ? undefined : { method: 'POST', path: pathOf(VMS, { namespace }), body },
  );
  const refusal = isForbidden
    ? `you may not create machines in ${namespace}`
    : 'why' in read
      ? `The manifest cannot be read: ${read.why}`
      : dryRun.refusal;
  const create = () =>
    work.run(async () => {
      if (!('vm' in read)) throw new Error(refusal);
      await session.client.create(VMS, read.vm as VirtualMachine); // the server has the last word about what it is
      go({ page: 'machine', namespace, name, tab: isStarted ? 'console' : 'overview' });
    });
  return (
    <main>
      <header class="bar">
        <h1>Create a machine</h1>
      </header>
      <div class="columns">
        {'choices' in shown && (
          <CreateForm
            {...{ images, create, isForbidden, refusal, causes: dryRun.causes, error: work.error, isBusy: work.isBusy }}
            choices={shown.choices}
            isReadOnly={'why' in read}
            isNamespaceFixed={session.namespace !== undefined}
            change={(changed: Partial<NewVm>) => setText((before) => withChoices(before, changed))}
          />
        )}
        <section class="yaml" aria-label="The same by other means">
          <p class="buttons">
            <button type="button" aria-pressed={view === 'yaml'} onClick={() => setView('yaml')}>
              Manifest
            </button>
            <button type="button" aria-pressed={view === 'command'} onClick={() => setView('command')}>
              Command
            </button>
            {view === 'command' && 'vm' in shown && <CopyButton what="the command" text={deriveCommand(shown.vm)} />}
          </p>
          {view === 'yaml' ? (
            <Suspense fallback={<p role="status">Loading…</p>}>
              <YamlEditor text={text} label="Manifest" kind="VirtualMachine" change={setText} />
            </Suspense>
          ) : (
            <pre>{'vm' in shown ? deriveCommand(shown.vm) : ''}</pre>
          )}
        </section>
      </div>
    </main>
  );
}

/** Whether the user may not make machines there, as the server says. */
function useForbiddenHere(namespace: string): boolean {
  const { client } = useSession();
  const [forbidden, setForbidden] = useState('');
  useEffect(() => {
    let isWanted = true;
    if (namespace !== '')
      void mayCreate(client, namespace).then(
        (may) => isWanted && setForbidden(may ? '' : namespace),
        () => {}, // the server has the last word in any case
      );
    return () => {
      isWanted = false;
    };
  }, [client, namespace]);
  return forbidden !== '' && forbidden === namespace;
}

function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return `vm-${[...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')}`;
}
