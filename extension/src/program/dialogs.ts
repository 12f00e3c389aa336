import type { Span } from './clock.ts';
import { Fault, refusal } from './failure.ts';
import type { Program } from './types.ts';
import type { View } from './view.ts';
import type { Worlds } from './world.ts';

/** The call that answers a dialog. */
const ANSWER = 'Page.handleJavaScriptDialog';

/** CDP's. */
const KINDS = ['alert', 'confirm', 'prompt', 'beforeunload'];

export function checkKept(kinds: readonly string[]): void {
  if (!kinds.every((kind) => KINDS.includes(kind))) {
    throw refusal('keep_dialogs holds a kind that there is not');
  }
}

/** Throws where a dialog that stays open was open before the program, which is not there to answer it. */
export function stopIfOpenBefore(view: View, { steps }: Program): void {
  const [first] = steps;
  const isAnswer = first?.kind === 'call' && first.method === ANSWER;
  if (view.isKept && view.opened === view.own && !isAnswer) throw dialogOpen();
}

/** Throws where a dialog that stays open has opened since the program began. */
export function stopIfHeldUp(view: View): void {
  if (isHeldUp(view)) throw dialogOpen();
}

export function isHeldUp(view: View): boolean {
  return view.isKept && view.opened > view.own;
}

export function dialogOpen(): Fault {
  return new Fault('dialog_open', 'a dialog of the page is open');
}

/**
 * Answers every JavaScript dialog until the program has ended: a page and the command that opened a dialog stand still
 * until somebody does. beforeunload is accepted, since the program asked to leave; all others are dismissed. One that
 * stays open ends the program instead.
 */
export async function mindDialogs(
  { worlds, view }: { worlds: Worlds; view: View },
  span: Span,
  end: () => void,
): Promise<void> {
  for (;;) {
    const isDue = () => view.isBlocked && !view.isKept;
    try {
      await view.until(span, () => isDue() || isHeldUp(view) || view.isEnded);
    } catch {
      return; // the program's time is up
    }
    if (isHeldUp(view)) end();
    if (!isDue()) return;
    const { opened } = view;
    const accept = view.dialogs.at(-1)?.type === 'beforeunload';
    try {
      await worlds.ask(span, '', ANSWER, { accept });
    } catch {
      // It is not there any more: a person was faster, or the tab is gone.
      if (view.opened === opened) view.isBlocked = false;
    }
  }
}
