/** The ledger: what was done, and the proof that nothing of it was changed. */
import { useState } from 'preact/hooks';
import type { Api } from './api.ts';
import { useAsked } from './hooks.ts';
import { type Part, part, type Report, type Row, report, row } from './model.ts';
import { Action, Alert, Badge, Empty } from './parts.tsx';
import { exactly } from './words.ts';

export function LedgerScreen({ api }: { api: Api }) {
  const [kind, setKind] = useState('');
  const [older, setOlder] = useState<Part<Row> | undefined>(undefined);
  const [found, setFound] = useState<Report | undefined>(undefined);
  const query = kind === '' ? '' : `&kind=${kind}`;
  const newest = useAsked(`/ledger${query}`, 0, () =>
    api.get(`/ledger?limit=50${query}`, part(row)),
  );
  const rows = [...(newest.value?.items ?? []), ...(older?.items ?? [])];
  const next = older ? older.next : (newest.value?.next ?? '');
  const choose = (chosen: string): void => {
    setOlder(undefined);
    setKind(chosen);
  };
  const more = async (): Promise<void> => {
    const add = await api.get(`/ledger?limit=50&cursor=${next}${query}`, part(row));
    setOlder({ items: [...(older?.items ?? []), ...add.items], next: add.next });
  };
  const verify = async (): Promise<void> => {
    setFound(await api.get('/ledger/verify', report));
    newest.again();
  };
  return (
    <section class="screen">
      <header class="headed">
        <h1>Ledger</h1>
        <div class="actions">
          <Kinds chosen={kind} choose={choose} />
          <Action look="primary" does={verify}>
            Verify
          </Action>
        </div>
      </header>
      <Alert trouble={newest.trouble} />
      {found && <Proof report={found} />}
      {newest.value && rows.length === 0 ? (
        <Empty title="Nothing yet">
          Every action and every change of access becomes a row here.
        </Empty>
      ) : (
        <Rows rows={rows} />
      )}
      {next !== '' && (
        <div class="actions">
          <Action does={more}>Older rows</Action>
        </div>
      )}
    </section>
  );
}

function Kinds({ chosen, choose }: { chosen: string; choose: (kind: string) => void }) {
  return (
    <label>
      <span class="unseen">Kind</span>
      <select value={chosen} onChange={(e) => choose(e.currentTarget.value)}>
        <option value="">Everything</option>
        <option value="browser">Browser</option>
        <option value="access">Access</option>
      </select>
    </label>
  );
}

function Proof({ report: r }: { report: Report }) {
  if (r.bad) {
    return (
      <div class="status bad" role="status">
        <span class="lamp" />
        <div>
          <strong>Row {r.bad.seq} does not hold</strong>
          <p>
            {r.bad.why} ({r.bad.class}). Keep a copy of the data folder as it is.
          </p>
        </div>
      </div>
    );
  }
  return (
    <div class="status good" role="status">
      <span class="lamp" />
      <div>
        <strong>{r.rows} rows hold</strong>
        <p class="hash">The last hash is {r.hash}</p>
      </div>
    </div>
  );
}

function Rows({ rows }: { rows: Row[] }) {
  return (
    <section class="scroll" aria-label="Ledger rows">
      <table>
        <thead>
          <tr>
            {['Row', 'What', 'Outcome', 'Where', 'Who', 'Time', 'Hash'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.seq}>
              <td class="number">{r.seq}</td>
              <td>{r.method}</td>
              <td>
                <Badge tone={r.outcome === 'done' ? 'quiet' : 'bad'}>
                  {r.outcome.replaceAll('_', ' ')}
                </Badge>
              </td>
              <td class="clip">{r.peer}</td>
              <td>{r.actor}</td>
              <td class="number">{exactly(r.time)}</td>
              <td class="hash" title={r.hash}>
                {r.hash.slice(0, 12)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
