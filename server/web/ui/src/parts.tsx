/** Small parts that several screens show. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Trouble, trouble } from './hooks.ts';
import { sentence } from './words.ts';

export function Alert({ trouble: wrong }: { trouble: Trouble | undefined }) {
  if (wrong === undefined) {
    return null;
  }
  return (
    <div class="alert" role="alert">
      <strong>{sentence(wrong.message)}</strong> {wrong.hint}
    </div>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'quiet';

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      <p>{children}</p>
    </div>
  );
}

type ActionProps = {
  children: ComponentChildren;
  does: () => Promise<unknown>;
  done?: string;
  look?: string;
};

/** A button that does something on the server: it waits, says that it is done, or what went wrong. */
export function Action({ children, does, done, look = '' }: ActionProps) {
  const [state, setState] = useState<'ready' | 'busy' | 'done'>('ready');
  const [wrong, setWrong] = useState<Trouble | undefined>(undefined);
  useEffect(() => {
    const timer = state === 'done' ? setTimeout(() => setState('ready'), 2_500) : undefined;
    return () => clearTimeout(timer);
  }, [state]);
  const press = (): void => {
    setState('busy');
    setWrong(undefined);
    does().then(
      () => setState('done'),
      (error: unknown) => {
        setState('ready');
        setWrong(trouble(error));
      },
    );
  };
  return (
    <>
      <button type="button" class={look} disabled={state === 'busy'} onClick={press}>
        {state === 'done' && done ? done : children}
      </button>
      <span class="unseen" role="status">
        {state === 'done' ? (done ?? 'Done') : ''}
      </span>
      <Alert trouble={wrong} />
    </>
  );
}

type ConfirmProps = {
  ask: string;
  explain: string;
  does: () => Promise<unknown>;
  children: ComponentChildren;
};

/** A button that asks before it does what cannot be undone. */
export function Confirmed({ ask, explain, does, children }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = (): void => dialog.current?.close();
  const confirmed = async (): Promise<void> => {
    await does();
    close();
  };
  return (
    <>
      <button type="button" class="plain danger" onClick={() => dialog.current?.showModal()}>
        {children}
      </button>
      <dialog ref={dialog} aria-label={ask}>
        <h2>{ask}</h2>
        <p>{explain}</p>
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <Action look="danger" does={confirmed}>
            {children}
          </Action>
        </div>
      </dialog>
    </>
  );
}
