// Package server is the composition root: it makes every room once, hands each what it needs and ends
// them in the reverse order. It holds no rule of its own.
//
// A server's life: lock the data folder; open the store and what stands on it; recover what a crash left;
// start egress, managed Chrome, the relay and the sessions; listen on the address and on the private socket;
// write server.json and say where the dashboard is; serve until the context ends; stop taking requests, end
// the sessions, the links and the Chromes, close the store.
package server
