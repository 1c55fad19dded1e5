// Package pool keeps the connections of an engine that nobody uses, to be used again. How many there may be at once is the guard's
// business, not the pool's.
//
// The one rule: who has acquired a connection gives it back by Release, or closes it and says so by Lost.
package pool
