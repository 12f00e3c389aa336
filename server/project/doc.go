// Package project owns projects, their policy, and their pairing with the account's browser.
package project
