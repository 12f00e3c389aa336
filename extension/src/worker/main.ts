/**
 * The extension's worker. Chrome stops it at any moment and starts it again for an event; so all listeners are
 * registered here, synchronously, and each waits until the memory is read.
 */
import * as alarms from './alarms.ts';
import * as counter from './counter.ts';
import * as port from './debugger.ts';
import { Desk } from './desk.ts';
import { load } from './store.ts';
import * as tabs from './tabs.ts';

const desk: Promise<Desk> = load().then((stored) => new Desk(stored));

/** Passes an event on, in the order Chrome told it. */
function tell(what: (ready: Desk) => void): void {
  void desk.then(what);
}

port.listen({
  event: (tab, child, method, params) =>
    tell((ready) => ready.debugged(tab, child, method, params)),
  detached: (tab, reason) => tell((ready) => ready.detached(tab, reason)),
});
tabs.listen({
  created: (tab) => tell((ready) => ready.tabCreated(tab)),
  began: (tab) => tell((ready) => ready.roads.began(tab)),
  ended: (tab) => tell((ready) => ready.tabArrived(tab)),
  opened: (tab, by) => tell((ready) => ready.tabOpened(tab, by)),
  changed: (tab) => tell((ready) => ready.tabChanged(tab)),
  regrouped: (tab, group) => tell((ready) => ready.tabRegrouped(tab, group)),
  replaced: (from, to) => tell((ready) => ready.tabReplaced(from, to)),
  removed: (tab) => tell((ready) => ready.tabRemoved(tab)),
  focused: (window) => tell((ready) => ready.windowFocused(window)),
  shown: (window, tab) => tell((ready) => ready.views.shows(window, tab)),
});
alarms.listen(() => tell((ready) => ready.woken()));
counter.listen(desk);
tell((ready) => void ready.start());
