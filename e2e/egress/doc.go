// Package egress tries the egress proxy as it ships, against names, servers and pages that mean harm: the real binary,
// the real resolver and a real Chromium, in a network of its own. The tests' process enters a fresh network namespace,
// gives itself public addresses there and answers its own DNS: nothing outside the machine is ever asked.
package egress
