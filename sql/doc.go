// Package sql holds the functions and views of Sluice at home, as text only. catalog runs all scripts in the order of
// their names at each install and update.
//
// The one rule: a script may be run again at any time, over any earlier version of itself.
package sql
