// Package regions reads tables that survive the loss of their primary region.
package regions
