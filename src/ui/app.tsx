/** The frame around every page: where one can go, and whether what is shown is current. */
import { lazy, Suspense } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { ActivityPage } from './activity-page.tsx';
import { ChooseNamespace } from './choose-namespace.tsx';
import type { Place } from './derive-place.ts';
import { uploadsInShort } from './derive-upload.ts';
import { SessionContext, usePlace, useSession } from './hooks.ts';
import { Keys } from './keys.tsx';
import { leave } from './leave.ts';
import { MachinePage } from './machine-page.tsx';
import { MachinesPage } from './machines-page.tsx';
import { NodesPage } from './nodes-page.tsx';
import { isShutOut } from './page-fetch.ts';
import { Palette } from './palette.tsx';
import { PlaceLink } from './place-link.tsx';
import type { Session } from './session.ts';
import { UndoNotice } from './undo-notice.tsx';

const CreatePage = lazy(() => import('./create-page.tsx').then(({ CreatePage }) => ({ default: CreatePage })));
const ImagesPage = lazy(() => import('./images-page.tsx').then(({ ImagesPage }) => ({ default: ImagesPage })));
const MACHINES: Place = { page: 'machines', text: '', status: '' };

export function App({ session }: { readonly session: Session }) {
  return (
    <SessionContext.Provider value={session}>
      <Frame />
    </SessionContext.Provider>
  );
}

function Frame() {
  const session = useSession();
  const place = usePlace();
  useEffect(() => {
    document.title = titleOf(place);
  }, [place]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <nav aria-label="Pages">
        <p class="brand">kubevirt-ts</p>
        <PlaceLink to={MACHINES} isHere={place.page === 'machines' || place.page === 'machine' || place.page === 'create'}>
          Machines
        </PlaceLink>
        <PlaceLink to={{ page: 'images' }} isHere={place.page === 'images'}>
          Images
        </PlaceLink>
        {session.events && (
          <PlaceLink to={{ page: 'activity' }} isHere={place.page === 'activity'}>
            Activity
          </PlaceLink>
        )}
        {session.nodes && (
          <PlaceLink to={{ page: 'nodes' }} isHere={place.page === 'nodes'}>
            Nodes
          </PlaceLink>
        )}
        <p class="about" title={session.info.server}>
          Ctrl+K: commands
          <br />
          ?: keys
          <br />
          {session.info.context}
          <br />
          {session.info.version}
        </p>
        <OnTheWay />
        <Account />
      </nav>
      <div class="content" id="content">
        {!session.isCurrent() && (
          <p class="stale" role="status">
            {isShutOut()
              ? 'This browser is not let in any more, and what you see may be old: virtctl ui prints a new link, for an embedded cluster virtctl up, too.'
              : 'No connection to the cluster: what you see may be old. Retrying.'}
          </p>
        )}
        <Suspense fallback={<p role="status">Loading…</p>}>
          <PageAt place={place} />
        </Suspense>
      </div>
      <Palette />
      <Keys place={place} />
      <UndoNotice />
    </div>
  );
}

/** What is sent from this page, wherever one looks. */
function OnTheWay() {
  const { uploads } = useSession();
  const words = uploadsInShort(uploads.list());
  return words === undefined ? null : <PlaceLink to={{ page: 'images' }}>{words}</PlaceLink>;
}

/** Who is signed in, and what he is limited to. */
function Account() {
  const { info, namespace } = useSession();
  if (info.user === undefined && namespace === undefined) return null;
  return (
    <div class="account">
      {namespace !== undefined && (
        <details>
          <summary>Only namespace {namespace}</summary>
          <ChooseNamespace shown={namespace} />
        </details>
      )}
      {info.user !== undefined && <p>{info.user}</p>}
      {info.canSignOut && (
        <button type="button" onClick={() => void leave()}>
          Sign out
        </button>
      )}
    </div>
  );
}

function PageAt({ place }: { readonly place: Place }) {
  switch (place.page) {
    case 'machines':
      return <MachinesPage place={place} />;
    case 'machine':
      return <MachinePage key={`${place.namespace}/${place.name}`} place={place} />;
    case 'create':
      return <CreatePage image={place.image ?? ''} />;
    case 'images':
      return <ImagesPage />;
    case 'activity':
      return <ActivityPage />;
    case 'nodes':
      return <NodesPage />;
    case 'nowhere':
      return (
        <main>
          <h1>There is no such page</h1>
          <PlaceLink to={MACHINES}>To the machines</PlaceLink>
        </main>
      );
  }
}

function titleOf(place: Place): string {
  if (place.page === 'machine') return `${place.name} · ${place.tab}`;
  return place.page === 'nowhere' ? 'Nothing here' : `${place.page[0]?.toUpperCase()}${place.page.slice(1)}`;
}
