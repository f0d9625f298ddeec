/** A new machine: one choice has to be made, all else is filled in; the manifest and the command are beside it. */
import { useEffect, useState } from 'preact/hooks';
import { VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { pathOf } from '../api/resource.ts';
import { isApiError } from '../base/errors.ts';
import { mayCreate } from './act.ts';
import { deriveMachines } from './derive-machines.ts';
import { deriveCommand, deriveImages, deriveNewVm, type NewVm, SIZES } from './derive-new-vm.ts';
import { go, useSession } from './hooks.ts';
import { useWork } from './use-work.ts';

/** Every embedded cluster has it; elsewhere it may not be there, and the machine says so. */
const KNOWN_IMAGES = ['localhost/guests/tiny'];
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
/** A pause in typing, after which the server is asked. */
const PAUSE_MS = 400;

export function CreatePage() {
  const session = useSession();
  const work = useWork();
  const images = deriveImages(
    deriveMachines(session.vms.list(), session.vmis.list()).map(({ image }) => image),
    KNOWN_IMAGES,
  );
  const [choices, setChoices] = useState<NewVm>(() => ({
    namespace: session.namespace ?? session.info.namespace,
    name: randomName(),
    image: images[0] ?? '',
    ...SIZES.S,
    isStarted: true,
  }));
  const [view, setView] = useState<'yaml' | 'command'>('yaml');
  const change = (changed: Partial<NewVm>) => setChoices((before) => ({ ...before, ...changed }));
  const vm = deriveNewVm(choices);
  const { refusal, isForbidden } = useDryRun(choices);
  const create = () =>
    work.run(async () => {
      await session.client.create(VMS, vm);
      go({ page: 'machine', namespace: choices.namespace, name: choices.name, tab: choices.isStarted ? 'console' : 'overview' });
    });
  return (
    <main>
      <header class="bar">
        <h1>Create a machine</h1>
      </header>
      <div class="columns">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void create();
          }}
        >
          <fieldset>
            <legend>Image</legend>
            <div class="tiles">
              {images.slice(0, 6).map((image) => (
                <label key={image} class="tile">
                  <input type="radio" name="image" value={image} checked={choices.image === image} onChange={() => change({ image })} />
                  {image}
                </label>
              ))}
            </div>
            <label>
              Another containerDisk image
              <input value={choices.image} required onInput={(event) => change({ image: event.currentTarget.value.trim() })} />
            </label>
          </fieldset>
          <label>
            Name
            <input value={choices.name} required onInput={(event) => change({ name: event.currentTarget.value.trim() })} />
          </label>
          <label>
            Namespace
            <input
              value={choices.namespace}
              required
              disabled={session.namespace !== undefined}
              onInput={(event) => change({ namespace: event.currentTarget.value.trim() })}
            />
          </label>
          <fieldset>
            <legend>Size</legend>
            <div class="tiles">
              {Object.entries(SIZES).map(([size, { cpus, memory }]) => (
                <label key={size} class="tile">
                  <input
                    type="radio"
                    name="size"
                    checked={choices.cpus === cpus && choices.memory === memory}
                    onChange={() => change({ cpus, memory })}
                  />
                  {size}: {cpus} CPU, {memory}
                </label>
              ))}
            </div>
            <label>
              Processors
              <input
                type="number"
                min={1}
                max={64}
                value={choices.cpus}
                onInput={(event) => change({ cpus: Math.max(1, Number(event.currentTarget.value) || 1) })}
              />
            </label>
            <label>
              Memory
              <input value={choices.memory} onInput={(event) => change({ memory: event.currentTarget.value.trim() })} />
            </label>
          </fieldset>
          <label class="check">
            <input type="checkbox" checked={choices.isStarted} onChange={(event) => change({ isStarted: event.currentTarget.checked })} />
            Start it
          </label>
          {(work.error ?? refusal) && (
            <p class="trouble" role="alert">
              {work.error ?? refusal}
            </p>
          )}
          <p class="buttons">
            <button
              type="submit"
              class="primary"
              disabled={work.isBusy || isForbidden}
              title={isForbidden ? `you may not create machines in ${choices.namespace}` : ''}
            >
              {choices.isStarted ? 'Create and start' : 'Create'}
            </button>
          </p>
        </form>
        <section aria-label="The same by other means">
          <p class="buttons">
            <button type="button" aria-pressed={view === 'yaml'} onClick={() => setView('yaml')}>
              Manifest
            </button>
            <button type="button" aria-pressed={view === 'command'} onClick={() => setView('command')}>
              Command
            </button>
          </p>
          <pre>{view === 'yaml' ? JSON.stringify(vm, null, 2) : deriveCommand(choices)}</pre>
        </section>
      </div>
    </main>
  );
}

/** What the server would say, asked when somebody stops typing. */
function useDryRun(choices: NewVm): { readonly refusal: string | undefined; readonly isForbidden: boolean } {
  const { client } = useSession();
  const [answer, setAnswer] = useState<{ refusal: string | undefined; isForbidden: boolean }>({ refusal: undefined, isForbidden: false });
  const text = JSON.stringify(deriveNewVm(choices));
  useEffect(() => {
    let isWanted = true;
    const timer = setTimeout(async () => {
      const found = await ask();
      if (isWanted) setAnswer(found);
    }, PAUSE_MS);
    const ask = async () => {
      try {
        if (!(await mayCreate(client, choices.namespace)))
          return { refusal: `you may not create machines in ${choices.namespace}`, isForbidden: true };
        const path = `${pathOf(VMS, { namespace: choices.namespace })}?dryRun=All`;
        await client.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
        return { refusal: undefined, isForbidden: false };
      } catch (error) {
        return { refusal: error instanceof Error ? error.message : String(error), isForbidden: isApiError(error, 'Forbidden') };
      }
    };
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, text, choices.namespace]);
  return answer;
}

function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return `vm-${[...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')}`;
}
