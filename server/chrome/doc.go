// Package chrome runs managed Chrome: it finds a browser, starts it confined, speaks the DevTools
// protocol with it over a pipe, and gives each session a browser context of its own in it.
//
// It owns the processes, their folders, persistent profiles, the network namespace they live in, the forwarders in
// it, the request guard of read-only processes, and the tabs of managed sessions. It does not know
// projects, actions, refs or the ledger; egress is to it a Unix socket that somebody opens for a session.
//
// A process's life:
//  1. Pool.Open finds no process for this account and policy (slots.go). It takes the spare one, which belongs to nobody
//     (warm.go), or makes a folder beneath the run folder for a new one.
//  2. The server starts its own binary again with the hidden subcommand "confine" (warden.go), in
//     fresh network, process and mount namespaces where the kernel allows it (confinement.go).
//  3. The confine process (confine.go) raises loopback and starts Chrome on the two protocol pipes with
//     one exact list of flags (flags.go). Its standard input is its leash: at end of file, which is also
//     what a killed server looks like, everything beneath it dies.
//  4. The server connects (conn.go, typed.go), installs the guard if the policy is read-only
//     (guard.go), and only then lets sessions in.
//  5. For each session (browser.go) it asks the confine process for a forwarder, Chrome for a context whose proxy is that
//     forwarder, and egress for the socket behind it. All but the last is kept ready for the session that comes next, with
//     a blank page (next.go). Programs run in the tabs (run.go, tab.go).
//     A session on a project's profile (profiles.go) has a full Chrome of its own instead, in the context that Chrome begins
//     with, whose forwarder is there before it is. Its tabs are written down (memory.go) and come back asleep (asleep.go).
//  6. After its last session it stays for a while (warm.go). Then, or with its pipe, its guard or its confine process,
//     it ends: all sessions in it end, everything is killed, and the folder is removed (process.go). What a killed server
//     left is swept by the next NewPool (folder.go). A Chrome on a profile is asked to end first, so that all that it holds
//     is on disk.
package chrome
