// Package lru keeps what was used last, within a bound.
package lru
