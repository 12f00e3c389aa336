/** The project's sessions, the newest first. */
import type { Api } from './api.ts';
import { useAsked, useCalmly, useEvents } from './hooks.ts';
import { lives, type Project, part, type Session, session } from './model.ts';
import { Alert, Badge, Empty, type Tone } from './parts.tsx';
import { backend, connected, day, done, name, policy } from './words.ts';

const every = 10_000;

export function SessionsScreen({ api, project }: { api: Api; project: Project }) {
  const path = `/projects/${project.id}/sessions?limit=50`;
  const sessions = useAsked(path, every, () => api.get(path, part(session)));
  useEvents(api, `/projects/${project.id}`, useCalmly(250, sessions.again));
  const items = sessions.value?.items ?? [];
  return (
    <section class="screen">
      <h1>Sessions</h1>
      <Alert trouble={sessions.trouble} />
      {sessions.value && items.length === 0 && (
        <Empty title="No agent has been here yet">
          Give one the command <code>chaperone mcp</code>, or try it yourself:{' '}
          <code>chaperone browse open https://example.com</code>
        </Empty>
      )}
      <ul class="cards">
        {items.map((s) => (
          <li key={s.id}>
            <a class="card" href={`#/sessions/${s.id}`}>
              <div class="grow">
                <strong class="clip">{name(s)}</strong>
                <span class="faint clip">{s.tabs[0]?.title || s.reason || s.id}</span>
                <span class="faint small narrow">
                  {backend(s.backend)}, {day(s.created)}
                </span>
              </div>
              <span class="faint wide">{backend(s.backend)}</span>
              {s.clients > 0 && <Badge tone="warn">{connected(s.clients)}</Badge>}
              {(lives(s) || s.actions > 0 || s.commands > 0) && (
                <span class="faint number">{done(s)}</span>
              )}
              <span class="faint wide">{day(s.created)}</span>
              <State session={s} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Where a session is in its life. */
export function State({ session: s }: { session: Session }) {
  const tone: Tone = lives(s) ? 'good' : s.state === 'failed' ? 'bad' : 'quiet';
  return (
    <Badge tone={tone}>
      {lives(s) && s.policy !== '' ? `${s.state}, ${policy(s.policy)}` : s.state}
    </Badge>
  );
}
