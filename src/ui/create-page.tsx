/** A new machine: one choice has to be made, all else is filled in; form, manifest and command are views of one object, and each follows the others. */
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { pathOf, type Resource } from '../api/resource.ts';
import { makeMachine } from '../sdk/make-machine.ts';
import { DEFAULT_DISK } from '../sdk/manifest/claim.ts';
import { mayCreate } from './act.ts';
import { CopyButton } from './copy-button.tsx';
import { CreateForm } from './create-form.tsx';
import { deriveCommand, deriveNewVm, type NewObjects, type NewVm, SIZES } from './derive-new-vm.ts';
import { manifestOf, readManifest, withChoices } from './edited-manifest.ts';
import { go, useSession } from './hooks.ts';
import { useDryRun } from './use-dry-run.ts';
import { useImages } from './use-images.ts';
import { useWork } from './use-work.ts';

const YamlEditor = lazy(() => import('./yaml-editor.tsx').then(({ YamlEditor }) => ({ default: YamlEditor })));

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Not before it is known what can be chosen: a choice that came later would be in the way of who types. */
export function CreatePage({ image }: { readonly image: string }) {
  const images = useImages();
  if (!images)
    return (
      <main>
        <p role="status">Loading…</p>
      </main>
    );
  return <Create images={images} asked={image || (images[0] ?? '')} />;
}

function Create({ images, asked }: { readonly images: readonly string[]; readonly asked: string }) {
  const session = useSession();
  const work = useWork();
  const [text, setText] = useState(() =>
    manifestOf(
      deriveNewVm({
        namespace: session.namespace ?? session.info.namespace,
        name: randomName(),
        image: asked,
        isEphemeral: false,
        disk: DEFAULT_DISK,
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
  const { namespace = '', name = '', image = '', isStarted = true, isEphemeral = true } = 'choices' in shown ? shown.choices : {};
  const isForbidden = useForbiddenHere(namespace, VMS);
  const isDiskForbidden = useForbiddenHere(namespace, PERSISTENT_VOLUME_CLAIMS) && !isEphemeral;
  const body = 'vm' in read ? JSON.stringify(read.vm) : undefined;
  const dryRun = useDryRun(
    body === undefined || namespace === '' || isForbidden || image === ''
      ? undefined
      : { method: 'POST', path: pathOf(VMS, { namespace }), body },
  );
  const claimBody = 'vm' in read && read.claim ? JSON.stringify(read.claim) : undefined;
  const claimRun = useDryRun(
    claimBody === undefined || namespace === '' || isForbidden || isDiskForbidden
      ? undefined
      : { method: 'POST', path: pathOf(PERSISTENT_VOLUME_CLAIMS, { namespace }), body: claimBody },
  );
  const isRefused = dryRun.isRefused || claimRun.isRefused;
  const refusal = isForbidden
    ? `you may not create machines in ${namespace}`
    : 'why' in read
      ? `The manifest cannot be read: ${read.why}`
      : isDiskForbidden
        ? `you may not create PVCs in ${namespace}: without a disk of its own the machine can be made`
        : (dryRun.refusal ?? claimRun.refusal);
  const create = () =>
    work.run(async () => {
      if (!('vm' in read) || isRefused) throw new Error(refusal);
      const { vm, claim } = read as NewObjects; // the server has the last word about what they are
      await makeMachine({ vm, ...(claim && { claim }) }, { client: session.client, namespace });
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
            {...{ images, create, isForbidden, isRefused, refusal, causes: dryRun.causes, error: work.error, isBusy: work.isBusy }}
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
            {view === 'command' && 'vm' in shown && <CopyButton what="the command" text={deriveCommand(shown)} />}
          </p>
          {view === 'yaml' ? (
            <Suspense fallback={<p role="status">Loading…</p>}>
              <YamlEditor text={text} label="Manifest" kind="VirtualMachine" change={setText} />
            </Suspense>
          ) : (
            <pre>{'vm' in shown ? deriveCommand(shown) : ''}</pre>
          )}
        </section>
      </div>
    </main>
  );
}

/** Whether the user may not make such things there, as the server says. */
function useForbiddenHere(namespace: string, resource: Resource): boolean {
  const { client } = useSession();
  const [forbidden, setForbidden] = useState('');
  useEffect(() => {
    let isWanted = true;
    if (namespace !== '')
      void mayCreate(client, namespace, resource).then(
        (may) => isWanted && setForbidden(may ? '' : namespace),
        () => {}, // the server has the last word in any case
      );
    return () => {
      isWanted = false;
    };
  }, [client, namespace, resource]);
  return forbidden !== '' && forbidden === namespace;
}

function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return `vm-${[...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')}`;
}
