/** What CDP clients do, in words. They speak a method at a time, hundreds a second, so it is told in counts. */

export type Counted = { name: string; count: number };

export type Commands = {
  commands: number;
  writes: number;
  refused: number;
  methods: readonly Counted[];
};

/** How many methods are named; the rest are counted together. */
const most = 6;

export function many(count: number, one: string): string {
  return count === 1 ? `1 ${one}` : `${count} ${one}s`;
}

/** “40 commands (12 writes)” */
export function counted({ commands, writes }: Commands): string {
  const all = many(commands, 'command');
  return writes > 0 ? `${all} (${writes} writes)` : all;
}

/** “Input.dispatchMouseEvent ×8, Page.navigate”, the most frequent first. */
export function named({ methods }: Commands): string {
  const sorted = methods.toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const words = sorted.slice(0, most).map(({ name, count }) => {
    const said = name.replace(/^refused\.(.*)$/, '$1 (refused)');
    return count === 1 ? said : `${said} ×${count}`;
  });
  if (sorted.length > most) {
    words.push(`and ${sorted.length - most} more`);
  }
  return words.join(', ');
}

const reasons: Readonly<Record<string, string>> = {
  withdrawn: 'it was revoked',
  session_ended: 'the session ended',
  credential_ended: 'the token that asked for it ended',
  browser_gone: 'the browser is gone',
  not_recorded: 'what clients did could not be written down',
};

export function whyClosed(reason: string): string {
  return reasons[reason] ?? reason;
}

/** A ledger row's detail: its counts of commands, if it has any, and each client's running digest. */
export type Detail = Commands & { digests: readonly Counted[]; rest: readonly [string, string][] };

const totals = ['commands', 'writes', 'reads', 'refused', 'more_clients'];

/** Read a row's detail, JSON of words by name. A method's name has a dot. */
export function detail(said: Readonly<Record<string, string>>): Detail {
  const all = Object.entries(said);
  const total = (name: string): number => Number(said[name]) || 0;
  const isCommands = total('commands') > 0;
  const isMethod = ([name, value]: [string, string]): boolean =>
    isCommands && (name.includes('.') || name === 'other') && /^\d+$/.test(value);
  const isDigest = ([name]: [string, string]): boolean => /^client\.\d+$/.test(name);
  return {
    commands: total('commands'),
    writes: total('writes'),
    refused: total('refused'),
    methods: all.filter(isMethod).map(([name, value]) => ({ name, count: Number(value) })),
    digests: all
      .filter(isDigest)
      .map(([name, value]) => ({ name: name.slice(7), count: Number.parseInt(value, 10) })),
    rest: all.filter((e) => !(isMethod(e) || isDigest(e) || (isCommands && totals.includes(e[0])))),
  };
}
