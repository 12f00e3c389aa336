/** “Your browser”: how to connect it, whether it is, and what it shares. */
import type { Api } from './api.ts';
import { useAsked, useCalmly, useEvents } from './hooks.ts';
import { type Pairing, type Project, pairing, type Tab } from './model.ts';
import { fields, text } from './parse.ts';
import { Action, Alert, Badge, Confirmed, Empty } from './parts.tsx';
import { day, host } from './words.ts';

/** How often the state is asked for, besides after each event. */
const every = 5_000;

export function BrowserScreen({ api, project }: { api: Api; project: Project }) {
  const path = `/projects/${project.id}/pairing`;
  const state = useAsked(path, every, () => api.get(path, pairing));
  const refresh = useCalmly(150, state.again);
  useEvents(api, `/projects/${project.id}`, refresh);
  const forget = async (): Promise<void> => {
    await api.ask('POST', `${path}/disconnect`, pairing);
    state.again();
  };
  const reset = async (): Promise<void> => {
    await api.ask('POST', '/pairing/reset', () => undefined);
    state.again();
  };
  const connected = state.value?.connected === true;
  return (
    <section class="screen">
      <h1>Your browser</h1>
      <Alert trouble={state.trouble} />
      {state.value && <Status pairing={state.value} project={project} />}
      {connected && <Shared tabs={state.value?.tabs ?? []} />}
      {state.value && <Steps api={api} path={path} connected={connected} />}
      <div class="actions end">
        {state.value?.paired && (
          <Confirmed
            ask="Forget this project’s pairing?"
            explain="Its sessions on your tabs end at once. Paste the code again to connect."
            does={forget}
          >
            Forget this project
          </Confirmed>
        )}
        <Confirmed
          ask="Reset the connection code?"
          explain="Every browser of your account is disconnected, in every project, and has to be paired with the new code."
          does={reset}
        >
          Reset the code
        </Confirmed>
      </div>
    </section>
  );
}

function Status({ pairing: p, project }: { pairing: Pairing; project: Project }) {
  if (!p.connected) {
    return (
      <div class="status" role="status">
        <span class="lamp" />
        <div>
          <strong>{p.paired ? 'Paired, not connected' : 'Not connected'}</strong>
          <p>
            {p.paired
              ? 'Open your browser: the extension connects by itself once it has the code.'
              : 'Follow the steps below. Nothing is shared until you share a tab yourself.'}
          </p>
        </div>
      </div>
    );
  }
  return (
    <div class="status good" role="status">
      <span class="lamp" />
      <div>
        <strong>Connected to {project.name}</strong>
        <p>
          {p.browser}, since {day(p.since)}. Agents{' '}
          {p.level === 'act'
            ? 'may read the tabs you share, and act in those you share to Act'
            : 'may only read the tabs you share'}
          .
        </p>
      </div>
    </div>
  );
}

function Shared({ tabs }: { tabs: Tab[] }) {
  if (tabs.length === 0) {
    return (
      <Empty title="No tab is shared">
        Open the extension’s popup on a page and choose Share this tab. None of your other tabs can
        be reached.
      </Empty>
    );
  }
  return (
    <>
      <h2>{tabs.some((t) => t.made) ? 'Tabs that agents may use' : 'Shared tabs'}</h2>
      <ul class="cards">
        {tabs.map((t) => (
          <li key={t.id} class="card">
            <div class="grow">
              <strong class="clip">{t.title || host(t.url)}</strong>
              <span class="faint clip">{host(t.url)}</span>
            </div>
            {t.suspended !== '' && <Badge tone="warn">{t.suspended}</Badge>}
            {t.made && <Badge tone="quiet">opened by an agent</Badge>}
            {t.session !== '' && <Badge tone="good">in use</Badge>}
            <Badge tone={t.level === 'act' ? 'warn' : 'quiet'}>
              {t.level === 'act' ? 'may act' : 'read-only'}
            </Badge>
          </li>
        ))}
      </ul>
    </>
  );
}

function codeOf(value: unknown): string {
  const { code } = fields(value);
  return text(code);
}

function Steps({ api, path, connected }: { api: Api; path: string; connected: boolean }) {
  const copy = async (): Promise<void> => {
    const code = await api.ask('POST', `${path}/code`, codeOf);
    await navigator.clipboard.writeText(code);
  };
  const steps = (
    <ol class="steps">
      <li>
        <strong>Get the extension.</strong>{' '}
        <a href="/api/downloads/chrome-extension.zip">Download chrome-extension.zip</a> and unpack
        it into a folder that stays where it is.
      </li>
      <li>
        <strong>Load it.</strong> Open <code>chrome://extensions</code> (in Edge{' '}
        <code>edge://extensions</code>), turn on Developer mode, choose Load unpacked, and pick that
        folder.
      </li>
      <li>
        <strong>Connect it.</strong> Copy the code and paste it into the extension’s popup. It is a
        secret: it lets a browser join your account.
        <div class="actions">
          <Action look="primary" does={copy} done="Copied">
            Copy connection code
          </Action>
        </div>
      </li>
      <li>
        <strong>Share a tab.</strong> On the page that an agent may use, open the popup and choose
        Share this tab.
      </li>
    </ol>
  );
  if (!connected) {
    return steps;
  }
  return (
    <details class="again">
      <summary>Connect another browser</summary>
      <p class="faint">
        It replaces the one that is connected now: sessions on that browser’s tabs end at once.
      </p>
      {steps}
    </details>
  );
}
