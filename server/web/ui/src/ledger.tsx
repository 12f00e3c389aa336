/** The ledger: what was done, and the proof that nothing of it was changed. */
import { useState } from 'preact/hooks';
import type { Api } from './api.ts';
import { counted, detail, many, named } from './cdp.ts';
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
        <option value="browser">Actions</option>
        <option value="cdp">CDP clients</option>
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

const columns: readonly (readonly [head: string, look: string])[] = [
  ['Row', ''],
  ['What', ''],
  ['Outcome', ''],
  ['Where', 'wide'],
  ['Who', 'wide'],
  ['Time', 'wide'],
  ['Hash', 'wide'],
];

function Rows({ rows }: { rows: Row[] }) {
  const [opened, setOpened] = useState(0);
  return (
    <section class="scroll" aria-label="Ledger rows">
      <table>
        <thead>
          <tr>
            {columns.map(([head, look]) => (
              <th key={head} scope="col" class={look}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <OneRow
              key={r.seq}
              row={r}
              open={r.seq === opened}
              toggle={() => setOpened(r.seq === opened ? 0 : r.seq)}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A row that opens: its button fills it, so that a click anywhere, Enter and Space all do. */
function OneRow({ row: r, open, toggle }: { row: Row; open: boolean; toggle: () => void }) {
  const said = detail(r.detail);
  return (
    <>
      <tr class="opens">
        <td class="number">{r.seq}</td>
        <td>
          <button type="button" aria-expanded={open} onClick={toggle}>
            {said.commands > 0 ? counted(said) : r.method}
          </button>
        </td>
        <td>
          <Badge tone={r.outcome === 'done' ? 'quiet' : 'bad'}>
            {r.outcome.replaceAll('_', ' ')}
          </Badge>
        </td>
        <td class="clip wide">{r.peer}</td>
        <td class="wide">{r.actor}</td>
        <td class="number wide">{exactly(r.time)}</td>
        <td class="hash wide">{r.hash.slice(0, 12)}</td>
      </tr>
      {open && <Whole row={r} />}
    </>
  );
}

/** A row's detail as names and words. */
function details(r: Row): [string, string][] {
  const said = detail(r.detail);
  const clients = said.digests.map((d) => `client ${d.name} has sent ${many(d.count, 'message')}`);
  return [
    ['What', said.commands > 0 ? counted(said) : ''],
    ['Refused', said.refused > 0 ? String(said.refused) : ''],
    ['Methods', named(said)],
    ['Clients', clients.join(', ')],
    ['Detail', said.rest.map(([key, value]) => `${key.replaceAll('_', ' ')}: ${value}`).join(', ')],
  ];
}

/** All of a row, for whoever wants to prove it. */
function Whole({ row: r }: { row: Row }) {
  return (
    <tr>
      <td colSpan={columns.length}>
        <dl class="whole">
          {[
            ...details(r),
            ['Where', r.peer],
            ['Who', `${r.actor} ${r.actorId}`],
            ['Time', exactly(r.time)],
            ['Session', r.session],
            ['Hash', r.hash],
          ].map(
            ([name, value]) =>
              value && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
      </td>
    </tr>
  );
}
