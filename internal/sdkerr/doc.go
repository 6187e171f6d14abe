// Package sdkerr turns what the SDK returns into errors of package types: it has the one mapping
// from service codes to sentinels, and decides when a write may have been carried out.
package sdkerr
