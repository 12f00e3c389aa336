// Package bench holds the egress proxy against a bare relay and against smokescreen, in one run on this machine. It is
// a module of its own, so that what it measures against is no dependency of the product. See `make bench`.
package bench
