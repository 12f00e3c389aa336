/** One session: its live picture, and what is done in it as it happens. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from './api.ts';
import { useAsked, useCalmly, useEvents, useStream } from './hooks.ts';
import { type Happening, lives, type Picture, picture, type Session, session } from './model.ts';
import { Action, Alert, Badge } from './parts.tsx';
import { State } from './sessions.tsx';
import { backend, connected, done, host, more, name, target, time, what } from './words.ts';

/** How many of the latest happenings are shown. */
const most = 200;

export function SessionScreen({ api, id }: { api: Api; id: string }) {
  const path = `/sessions/${id}`;
  const asked = useAsked(path, 10_000, () => api.get(path, session));
  const [events, setEvents] = useState<Happening[]>([]);
  const refresh = useCalmly(200, asked.again);
  const wrong = useEvents(api, path, (event) => {
    setEvents((all) => [event, ...all].slice(0, most));
    refresh();
  });
  const s = asked.value;
  const end = async (): Promise<void> => {
    await api.ask('DELETE', path, session);
    asked.again();
  };
  return (
    <section class="screen">
      <nav aria-label="Path">
        <a href="#/sessions">← Sessions</a>
      </nav>
      <Alert trouble={asked.trouble ?? wrong} />
      {s && (
        <>
          <header class="headed">
            <h1 class="clip">{name(s)}</h1>
            <State session={s} />
            <span class="faint">{backend(s.backend)}</span>
            {s.clients > 0 && <Badge tone="warn">{connected(s.clients)}</Badge>}
            {lives(s) && (
              <div class="actions">
                <Action does={end}>End session</Action>
              </div>
            )}
          </header>
          {lives(s) && <Paused session={s} />}
          <div class="watch">
            <Screen api={api} session={s} place={place(s, events)} />
            <Feed events={events} session={s} />
          </div>
        </>
      )}
    </section>
  );
}

/** Which of the session's tabs cannot be used now, and why. */
function Paused({ session: s }: { session: Session }) {
  const own = s.tabs.filter((t) => t.suspended !== '' && (t.session === '' || t.session === s.id));
  return own.map((t) => (
    <div key={t.id} class="status warn" role="status">
      <span class="lamp" />
      <div>
        <strong class="clip">{t.title || host(t.url) || 'A tab'} is paused</strong>
        <p>{t.suspended}</p>
      </div>
    </div>
  ));
}

/** Where the session is: its latest action's page, else its first tab. */
function place(s: Session, events: Happening[]): { url: string; title: string } {
  const latest = events.find((e) => e.about.url !== '');
  return latest?.about ?? s.tabs[0] ?? { url: '', title: '' };
}

type ScreenProps = { api: Api; session: Session; place: { url: string; title: string } };

function Screen({ api, session: s, place: guess }: ScreenProps) {
  const [shown, setShown] = useState<Picture | undefined>(undefined);
  const alive = lives(s);
  const on = s.tabs.find((t) => t.id === shown?.tab);
  const at = on && (on.title || on.url) ? on : guess;
  const wrong = useStream(api, alive ? `/sessions/${s.id}/frames` : '', (m) => {
    if (m.event === 'picture') {
      setShown(picture(JSON.parse(m.data)));
    }
  });
  return (
    <figure class="view">
      <figcaption>
        <span class={alive && shown ? 'lamp live' : 'lamp'} />
        <span class="clip grow">{at.title || host(at.url) || 'No page yet'}</span>
        {at.title !== '' && <span class="faint clip">{host(at.url)}</span>}
      </figcaption>
      {shown ? <Canvas picture={shown} title={at.title} /> : <p class="waiting">{waiting(s)}</p>}
      <Alert trouble={wrong} />
    </figure>
  );
}

function waiting(s: Session): string {
  if (!lives(s)) {
    return s.reason === '' ? 'This session is over.' : `This session is over: ${s.reason}.`;
  }
  return s.tabs.length === 0
    ? 'The agent has not opened a page yet.'
    : 'Waiting for the first picture…';
}

/** A picture drawn as a blob, so that no page of ours ever holds a page's bytes as an address. */
function Canvas({ picture: p, title }: { picture: Picture; title: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let current = true;
    draw(p, () => (current ? canvas.current : null)).catch(() => undefined); // a picture that does not decode is skipped
    return () => {
      current = false;
    };
  }, [p]);
  return <canvas ref={canvas} role="img" aria-label={`Live picture of ${title || 'the page'}`} />;
}

async function draw(p: Picture, on: () => HTMLCanvasElement | null): Promise<void> {
  const bytes = Uint8Array.from(atob(p.jpeg), (c) => c.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
  const canvas = on();
  if (canvas !== null) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  }
  bitmap.close();
}

function Feed({ events, session: s }: { events: Happening[]; session: Session }) {
  return (
    <div class="feed">
      <h2>
        What it does <span class="faint">{done(s)}</span>
      </h2>
      {s.confinement !== '' && <Confinement words={s.confinement} />}
      <ol aria-live="polite">
        {events.map((e) => (
          <li key={e.seq}>
            <span class="faint number">{time(e.time)}</span>
            <span>
              {what(e)} <em>{target(e)}</em>
            </span>
            <Outcome event={e} />
            <span class="faint small more">{more(e)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** How the browser is kept from the network: "kernel: why", the reason only when it is asked for. */
function Confinement({ words }: { words: string }) {
  const [by, why] = words.split(/: (.*)/s);
  return (
    <details class="faint small">
      <summary>Kept from the network by {by === 'kernel' ? 'the kernel' : by}</summary>
      {why}
    </details>
  );
}

function Outcome({ event: e }: { event: Happening }) {
  if (e.about.refused > 0) {
    return <Badge tone="bad">{e.about.refused} refused</Badge>;
  }
  if (e.about.outcome === '') {
    return null;
  }
  if (e.about.outcome !== 'done') {
    return <Badge tone="bad">{e.about.outcome.replaceAll('_', ' ')}</Badge>;
  }
  return <span class="faint number">{e.about.elapsed} ms</span>;
}
