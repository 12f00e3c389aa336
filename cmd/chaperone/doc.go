// Command chaperone is the one binary: the server, and the commands that speak to one.
//
// It owns the words of the command line: subcommands (a file each), flags and their environment
// (setting.go), where a server is found (client.go), how an answer is printed (print.go) and the one
// table from fault to exit code (exit.go). It holds no rule: a server's rooms do, behind its API.
package main
