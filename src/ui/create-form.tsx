/** The few choices of a new machine, each with what the server says about it. */
import type { ComponentChildren } from 'preact';
import type { StatusCause } from '../base/errors.ts';
import { parseQuantity } from '../base/quantity.ts';
import { messageAt } from './derive-configuration-change.ts';
import { isSize } from './derive-images.ts';
import { CHOICE_PATHS, type NewVm, SIZES } from './derive-new-vm.ts';

type Props = {
  readonly choices: NewVm;
  readonly images: readonly string[];
  /** What the server would say against all of it. */
  readonly refusal: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly error: string | undefined;
  readonly isBusy: boolean;
  readonly isForbidden: boolean;
  /** The server would not take what is there now. */
  readonly isRefused: boolean;
  /** The manifest is being typed, and cannot be read yet. */
  readonly isReadOnly: boolean;
  readonly isNamespaceFixed: boolean;
  change(changed: Partial<NewVm>): void;
  create(): void;
};

export function CreateForm({ choices, images, change, create, isNamespaceFixed, isReadOnly, isForbidden, ...told }: Props) {
  const { refusal, causes, error, isBusy, isRefused } = told;
  const at = (choice: keyof typeof CHOICE_PATHS) => messageAt(causes, CHOICE_PATHS[choice]);
  const hasOwnScript = choices.userData !== '' && choices.sshKey === '';
  const isPlaced = Object.values(CHOICE_PATHS).some((path) => messageAt(causes, path) !== undefined);
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    create();
  };
  return (
    <form
      onKeyDown={pressed}
      onSubmit={(event) => {
        event.preventDefault();
        create();
      }}
    >
      <fieldset disabled={isReadOnly}>
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
          <input
            placeholder="quay.io/containerdisks/fedora:latest"
            value={choices.image}
            required
            onInput={(event) => change({ image: event.currentTarget.value.trim() })}
          />
        </label>
        <Message>{at('image')}</Message>
      </fieldset>
      <fieldset disabled={isReadOnly} class="plain">
        <label>
          Name
          <input
            value={choices.name}
            required
            aria-invalid={at('name') !== undefined}
            onInput={(event) => change({ name: event.currentTarget.value.trim() })}
          />
        </label>
        <Message>{at('name')}</Message>
        <label>
          Namespace
          <input
            value={choices.namespace}
            required
            disabled={isNamespaceFixed}
            onInput={(event) => change({ namespace: event.currentTarget.value.trim() })}
          />
        </label>
        <Message>{at('namespace')}</Message>
      </fieldset>
      <fieldset disabled={isReadOnly}>
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
            aria-invalid={at('cpus') !== undefined}
            onInput={(event) => change({ cpus: Math.max(1, Number(event.currentTarget.value) || 1) })}
          />
        </label>
        <Message>{at('cpus')}</Message>
        <label>
          Memory
          <input
            value={choices.memory}
            aria-invalid={at('memory') !== undefined}
            onInput={(event) => change({ memory: event.currentTarget.value.trim() })}
          />
        </label>
        <Message>{at('memory')}</Message>
      </fieldset>
      <fieldset disabled={isReadOnly}>
        <legend>Disk</legend>
        <label class="check">
          <input type="radio" name="kept" checked={!choices.isEphemeral} onChange={() => change({ isEphemeral: false })} />
          Its own: keeps what the guest writes, and goes with the machine
        </label>
        <label class="check">
          <input type="radio" name="kept" checked={choices.isEphemeral} onChange={() => change({ isEphemeral: true })} />
          Ephemeral: when the machine stops, all that the guest has written is lost
        </label>
        {!choices.isEphemeral && (
          <label>
            Size of the disk
            <input
              value={choices.disk}
              required
              aria-invalid={!isSize(choices.disk)}
              onInput={(event) => change({ disk: event.currentTarget.value.trim() })}
            />
          </label>
        )}
        <Message>{choices.isEphemeral ? undefined : diskFault(choices.disk)}</Message>
      </fieldset>
      <details open={choices.sshKey !== ''}>
        <summary>Log in with an SSH key</summary>
        <fieldset disabled={isReadOnly || hasOwnScript} class="plain">
          <label>
            Public key
            <input
              value={choices.sshKey}
              spellcheck={false}
              placeholder="ssh-ed25519 AAAA… name"
              onInput={(event) => change({ sshKey: event.currentTarget.value.trim() })}
            />
          </label>
          {choices.sshKey !== '' && (
            <label>
              User
              <input value={choices.user} onInput={(event) => change({ user: event.currentTarget.value.trim() })} />
            </label>
          )}
          <p class="faint">
            {hasOwnScript
              ? 'The script below says all that cloud-init is told.'
              : 'For images that obey cloud-init: the user gets the key, and sudo.'}
          </p>
        </fieldset>
      </details>
      <details open={choices.userData !== ''}>
        <summary>Run a script at the first start</summary>
        <label>
          Cloud-init user data
          <textarea
            class="script"
            rows={6}
            spellcheck={false}
            value={choices.userData}
            disabled={isReadOnly}
            onInput={(event) => change({ userData: event.currentTarget.value })}
          />
        </label>
      </details>
      <label class="check">
        <input
          type="checkbox"
          checked={choices.isStarted}
          disabled={isReadOnly}
          onChange={(event) => change({ isStarted: event.currentTarget.checked })}
        />
        Start it
      </label>
      <Message>{error ?? (isPlaced ? undefined : refusal)}</Message>
      <p class="buttons">
        <button
          type="submit"
          class="primary"
          disabled={isBusy || isForbidden || isReadOnly || isRefused || (!choices.isEphemeral && diskFault(choices.disk) !== undefined)}
          title={isForbidden || isRefused ? refusal : 'Ctrl+Enter'}
        >
          {choices.isStarted ? 'Create and start' : 'Create'}
        </button>
      </p>
    </form>
  );
}

/** How large an image is says nobody before it is there: no system fits on less. */
const SMALLEST_IMAGE_BYTES = 16 * 2 ** 20;

function diskFault(disk: string): string | undefined {
  if (!isSize(disk)) return 'It needs a size, as in 10Gi; no smaller than the image.';
  const isTooSmall = (parseQuantity(disk) ?? 0) < SMALLEST_IMAGE_BYTES;
  return isTooSmall ? `${disk} is smaller than any image: the machine would not start.` : undefined;
}

function Message({ children }: { readonly children: ComponentChildren }) {
  if (!children) return null;
  return (
    <p class="trouble" role="alert">
      {children}
    </p>
  );
}
