/** The dashboard around its screens: who is logged in, which project, which screen. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Api } from './api.ts';
import { BrowserScreen } from './browser.tsx';
import { type Trouble, trouble, useAsked } from './hooks.ts';
import { LedgerScreen } from './ledger.tsx';
import { type Project, part, project } from './model.ts';
import { Alert } from './parts.tsx';
import { SessionScreen } from './session.tsx';
import { SessionsScreen } from './sessions.tsx';
import { policy } from './words.ts';

type Gate = 'asking' | 'in' | 'out';

/** The one-time code of the address's fragment, which is taken out of the address at once. */
function takeCode(): string {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? '';
  if (code !== '') {
    history.replaceState(null, '', '/#/browser');
  }
  return code;
}

async function enter(api: Api): Promise<boolean> {
  const code = takeCode();
  if (code === '') {
    return await api.resume();
  }
  await api.login(code);
  return true;
}

export function App() {
  const [gate, setGate] = useState<Gate>('asking');
  const [wrong, setWrong] = useState<Trouble | undefined>(undefined);
  const api = useMemo(() => new Api(() => setGate('out')), []);
  useEffect(() => {
    enter(api).then(
      (entered) => setGate(entered ? 'in' : 'out'),
      (error: unknown) => {
        setWrong(trouble(error));
        setGate('out');
      },
    );
  }, [api]);
  if (gate === 'asking') {
    return <p class="unseen">Loading</p>;
  }
  return gate === 'in' ? <House api={api} /> : <Door trouble={wrong} />;
}

function Door({ trouble: wrong }: { trouble: Trouble | undefined }) {
  return (
    <main class="door">
      <img src="/icon.svg" alt="" width="56" height="56" />
      <h1>Chaperone</h1>
      <Alert trouble={wrong} />
      {wrong === undefined && (
        <p>
          Open the link that <code>chaperone serve</code> printed. It logs you in once. For a new
          one run <code>chaperone dashboard</code>.
        </p>
      )}
    </main>
  );
}

/** The part of the address after #/, such as "sessions/s_01". */
function useRoute(): string {
  const [route, setRoute] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setRoute(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route.replace(/^#\//, '');
}

const remembered = 'project';

function House({ api }: { api: Api }) {
  const route = useRoute();
  const [wanted, setWanted] = useState(localStorage.getItem(remembered) ?? '');
  const projects = useAsked('projects', 60_000, () => api.get('/projects', part(project)));
  const items = projects.value?.items ?? [];
  const chosen =
    items.find((p) => p.id === wanted) ?? items.find((p) => p.name === 'default') ?? items[0];
  const choose = (id: string): void => {
    localStorage.setItem(remembered, id);
    setWanted(id);
  };
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="#/browser">
          <img src="/icon.svg" alt="" width="28" height="28" />
          <span>Chaperone</span>
        </a>
        <Tabs route={route} />
        {chosen && <Chooser projects={items} chosen={chosen} choose={choose} />}
        <button
          type="button"
          class="plain"
          onClick={() => void api.logout().catch(() => undefined)}
        >
          Log out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <Alert trouble={projects.trouble} />
        {chosen && <Room api={api} route={route} project={chosen} />}
      </main>
    </>
  );
}

function Tabs({ route }: { route: string }) {
  const here = route.split('/')[0] || 'browser';
  return (
    <nav aria-label="Screens">
      {[
        ['browser', 'Your browser'],
        ['sessions', 'Sessions'],
        ['ledger', 'Ledger'],
      ].map(([path, label]) => (
        <a key={path} href={`#/${path}`} aria-current={path === here ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

type ChooserProps = { projects: Project[]; chosen: Project; choose: (id: string) => void };

function Chooser({ projects, chosen, choose }: ChooserProps) {
  return (
    <label class="chooser">
      <span class="faint">Project</span>
      <select value={chosen.id} onChange={(e) => choose(e.currentTarget.value)}>
        {projects.map((p) => (
          <option key={p.id} value={p.id}>
            {p.name} ({policy(p.policy)})
          </option>
        ))}
      </select>
    </label>
  );
}

function Room({ api, route, project: p }: { api: Api; route: string; project: Project }) {
  const [screen, id] = route.split('/');
  if (screen === 'sessions' && id) {
    return <SessionScreen key={id} api={api} id={id} />;
  }
  if (screen === 'sessions') {
    return <SessionsScreen key={p.id} api={api} project={p} />;
  }
  if (screen === 'ledger') {
    return <LedgerScreen api={api} />;
  }
  if (screen === 'browser' || screen === '') {
    return <BrowserScreen key={p.id} api={api} project={p} />;
  }
  return <Nowhere route={route} />;
}

function Nowhere({ route }: { route: string }) {
  return (
    <section class="screen">
      <h1>There is no such page</h1>
      <p>
        The dashboard has nothing at <code>#/{route}</code>. Go to{' '}
        <a href="#/browser">your browser</a>, the <a href="#/sessions">sessions</a> or the{' '}
        <a href="#/ledger">ledger</a>.
      </p>
    </section>
  );
}
