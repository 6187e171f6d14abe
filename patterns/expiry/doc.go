// Package expiry is entities that end by themselves: sessions, tokens, locks, carts.
package expiry
